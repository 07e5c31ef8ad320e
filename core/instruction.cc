// The text form of instructions, both ways (docs/formats/program.md). Writing and reading share one
// order of the fields.

#include "core/instruction.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

namespace penstock {
namespace {

char target_letter(Op op) {
  switch (target_of(op)) {
    case Target::Edge:
      return 'e';
    case Target::Store:
      return 's';
    case Target::Group:
      return 'g';
    case Target::None:
      return 0;
  }
  return 0;
}

void append_key(std::string& out, const InstructionKey& key) {
  out += name(key.op);
  fmt::format_to(std::back_inserter(out), " {}", key.stage);
  if (key.microbatch >= 0) {
    fmt::format_to(std::back_inserter(out), ".{}", key.microbatch);
    if (key.slice != 0) fmt::format_to(std::back_inserter(out), ".{}", key.slice);
  } else if (key.slice != 0) {
    fmt::format_to(std::back_inserter(out), ".-.{}", key.slice);
  }
  if (key.direction != 0) fmt::format_to(std::back_inserter(out), "@{}", key.direction);
  if (key.network != 0) fmt::format_to(std::back_inserter(out), " n{}", key.network);
  if (key.step != 0) fmt::format_to(std::back_inserter(out), " t{}", key.step);
}

void append_target(std::string& out, const Instruction& instruction) {
  if (const char letter = target_letter(instruction.key.op); letter != 0 && instruction.target >= 0)
    fmt::format_to(std::back_inserter(out), " {}{}", letter, instruction.target);
}

// Reads front to back; the first failure sticks and says at which column (from 1) it happened.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Instruction> instruction() {
    Instruction out;
    const std::string_view word = text_.substr(0, text_.find(' '));
    const std::optional<Op> op = parse_op(word);
    if (!op) {
      std::vector<std::string_view> names;
      for (const auto& [value, known] : kOpNames) names.push_back(known);
      const std::string_view near = nearest(word, names);
      return fail(ErrorCode::BadInput, fmt::format("'{}' is not an operation", word),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    out.key.op = *op;
    at_ = word.size();
    if (!take(' ')) refuse("a space and the stage");
    out.key.stage = number<std::uint16_t>("the stage");
    if (take(".-.")) {
      out.key.slice = number<std::uint8_t>("the slice", 1);
    } else if (take('.')) {
      out.key.microbatch = number<std::int32_t>("the microbatch");
      if (take('.')) out.key.slice = number<std::uint8_t>("the slice");
    }
    if (take('@')) out.key.direction = number<std::uint8_t>("the direction");
    if (take(" n")) out.key.network = number<std::uint8_t>("the network");
    if (take(" t"))
      out.key.step = number<std::int16_t>("the step", std::numeric_limits<std::int16_t>::min());
    if (const char letter = target_letter(*op); letter != 0 && take(std::string{' ', letter}))
      out.target = number<std::int32_t>("the target");
    if (take(" r")) out.recipe = number<std::int32_t>("the recipe");
    if (take(" #")) out.group = number<std::uint16_t>("the group", 1);
    if (take(" after ")) {
      out.after_stream = number<std::int16_t>("the stream");
      if (!take(':')) refuse("':' and an index");
      out.after_index = number<std::uint32_t>("the index");
    }
    if (at_ != text_.size()) refuse("the end, or a field in its order");
    if (!expected_.empty())
      return fail(ErrorCode::BadInput,
                  fmt::format("'{}': expected {} at column {}", text_, expected_, failed_at_ + 1),
                  "an instruction reads like 'SEND 0.3 e1 r2 after 0:17'");
    return out;
  }

 private:
  void refuse(std::string_view expected) {
    if (!expected_.empty()) return;
    expected_ = expected;
    failed_at_ = at_;
  }

  bool take(char c) { return take(std::string_view(&c, 1)); }
  bool take(std::string_view word) {
    if (!expected_.empty() || text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // As written by us: no plus sign, no leading zeros, so that equal instructions have equal text.
  template <class T>
  T number(std::string_view what, std::int64_t least = 0) {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    const std::string_view digits(begin, stop);
    const bool plain =
        digits == "0" || (!digits.empty() && digits[digits[0] == '-' ? 1 : 0] != '0');
    if (error != std::errc() || !plain || value < least ||
        value > std::int64_t{std::numeric_limits<T>::max()}) {
      refuse(what);
      return T{};
    }
    if (expected_.empty()) at_ += digits.size();
    return static_cast<T>(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view expected_;
  std::size_t failed_at_ = 0;
};

}  // namespace

std::string text(const InstructionKey& key) {
  std::string out;
  append_key(out, key);
  return out;
}

std::string brief(const Instruction& instruction) {
  std::string out = text(instruction.key);
  append_target(out, instruction);
  return out;
}

std::string text(const Instruction& instruction) {
  std::string out = brief(instruction);
  if (instruction.recipe >= 0) fmt::format_to(std::back_inserter(out), " r{}", instruction.recipe);
  if (instruction.group != 0) fmt::format_to(std::back_inserter(out), " #{}", instruction.group);
  if (instruction.after_stream >= 0)
    fmt::format_to(std::back_inserter(out), " after {}:{}", instruction.after_stream,
                   instruction.after_index);
  return out;
}

Result<Instruction> parse_instruction(std::string_view text) {
  return Parser(text).instruction();
}

}  // namespace penstock
