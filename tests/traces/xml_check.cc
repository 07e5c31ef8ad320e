#include "tests/traces/xml_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace penstock::test {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':'; }

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::string run() {
    if (text_.substr(0, 9) == "<!DOCTYPE") at_ = text_.find('>') + 1;
    while (at_ < text_.size() && fault_.empty()) {
      if (text_[at_] == '<') {
        tag();
      } else {
        character();
      }
    }
    if (fault_.empty() && !open_.empty()) say("<" + open_.back() + "> does not end");
    if (fault_.empty() && roots_ != 1) say("there must be one root");
    return fault_;
  }

 private:
  void say(const std::string& what) {
    if (fault_.empty()) fault_ = fmt::format("line {}: {}", 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n'), what);
  }

  std::string name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == start) say("a name is missing");
    return std::string(text_.substr(start, at_ - start));
  }

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  // Text, or one character of a value.
  void character() {
    const auto code = static_cast<unsigned char>(text_[at_]);
    if (code < 0x20 && std::isspace(code) == 0) say("a control character");
    if (open_.empty() && std::isspace(code) == 0) say("text outside the root");
    if (text_[at_] == '&') {
      const std::size_t end = text_.find(';', at_);
      if (end == std::string_view::npos || end - at_ < 2 || end - at_ > 8) return say("'&' that begins no reference");
      const std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
      const bool fine = std::all_of(body.begin(), body.end(), [](char c) { return is_name(c) || c == '#'; });
      if (!fine) return say("'&' that begins no reference");
      at_ = end;
    }
    ++at_;
  }

  void tag() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '/') {
      ++at_;
      const std::string ended = name();
      if (open_.empty() || open_.back() != ended) return say("</" + ended + "> ends nothing that is open");
      open_.pop_back();
      if (at_ >= text_.size() || text_[at_] != '>') return say("'>' is missing");
      ++at_;
      return;
    }
    const std::string element = name();
    if (open_.empty()) ++roots_;
    std::set<std::string> seen;
    for (blanks(); at_ < text_.size() && is_name(text_[at_]) && fault_.empty(); blanks()) {
      if (!seen.insert(attribute()).second) say("an attribute twice in <" + element + ">");
    }
    if (!fault_.empty()) return;
    if (text_.substr(at_, 2) == "/>") {
      at_ += 2;
      return;
    }
    if (at_ >= text_.size() || text_[at_] != '>') return say("<" + element + "> is not closed by '>'");
    ++at_;
    open_.push_back(element);
    if (element == "script" || element == "style") at_ = std::min(text_.size(), text_.find("</" + element + ">", at_));
  }

  std::string attribute() {
    std::string out = name();
    if (text_.substr(at_, 2) != "=\"") {
      say("attribute " + out + " has no quoted value");
      return out;
    }
    at_ += 2;
    open_.emplace_back("(value)");
    while (at_ < text_.size() && text_[at_] != '"' && fault_.empty()) {
      if (text_[at_] == '<') say("'<' in the value of " + out);
      character();
    }
    open_.pop_back();
    ++at_;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  int roots_ = 0;
  std::string fault_;
};

}  // namespace

std::string xml_fault(std::string_view document) { return Checker(document).run(); }

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

}  // namespace penstock::test
