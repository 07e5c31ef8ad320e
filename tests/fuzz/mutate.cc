// Mutations that keep a document a document: most changes of bytes end in the parser, and what lies behind it is never seen.
// An input that is JSON or TOML has, three times in four, some of its nodes changed: numbers to the ends of their ranges,
// lists longer, shorter or in another order, members left out, one node in the place of another, digits within text. All
// other inputs, and the fourth time, are libFuzzer's.

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/file.h"
#include "core/json.h"
#include "core/value.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace penstock::fuzz {
namespace {

class Mutator {
 public:
  Mutator(Value& document, unsigned seed) : document_(document), random_(seed) {}

  void run() {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      nodes_.clear();
      collect(document_);
      change(*nodes_[below(nodes_.size())]);
    }
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void collect(Value& node) {
    nodes_.push_back(&node);
    if (node.is_array())
      for (Value& item : node.array()) collect(item);
    if (node.is_object())
      for (auto& [key, member] : node.object()) collect(member);
  }

  void change(Value& node) {
    if (below(16) == 0) {  // another node of the document
      const Value other = *nodes_[below(nodes_.size())];
      node = other;
      return;
    }
    switch (node.kind()) {
      case Value::Kind::Null:
        node = Value(0);
        break;
      case Value::Kind::Boolean:
        node = Value(!node.boolean());
        break;
      case Value::Kind::Integer:
        node = Value(integer(node.integer()));
        break;
      case Value::Kind::Real:
        node = Value(real(node.real()));
        break;
      case Value::Kind::String:
        node = Value(string(node.string()));
        break;
      case Value::Kind::Array:
        list(node.array());
        break;
      case Value::Kind::Object:
        if (!node.object().empty() && below(8) == 0)
          node.object().erase(node.object().begin() + static_cast<std::ptrdiff_t>(below(node.object().size())));
        else if (!node.object().empty())
          change(node.object()[below(node.object().size())].second);
        break;
    }
  }

  std::int64_t integer(std::int64_t x) {
    static constexpr std::int64_t kEnds[] = {0, 1, 2, 3, -1, 7, 64, 127, 128, 255, 256, 65535, 65536, 1 << 20, (1 << 30) - 1, 1 << 30,
                                             std::numeric_limits<std::int32_t>::max(), std::int64_t{1} << 31,
                                             std::int64_t{1} << 32, std::int64_t{1} << 40, std::int64_t{1} << 53,
                                             std::int64_t{1} << 56, std::int64_t{1} << 61, std::int64_t{1} << 62,
                                             std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    const auto wrap = [](std::uint64_t sum) { return static_cast<std::int64_t>(sum); };
    switch (below(6)) {
      case 0:
        return kEnds[below(std::size(kEnds))];
      case 1:
        return wrap(static_cast<std::uint64_t>(x) + 1);
      case 2:
        return wrap(static_cast<std::uint64_t>(x) - 1);
      case 3:
        return wrap(static_cast<std::uint64_t>(x) * 2);
      case 4:
        return static_cast<std::int64_t>(below(8));
      default:
        for (int tries = 0; tries < 8; ++tries)
          if (const Value& other = *nodes_[below(nodes_.size())]; other.is_integer()) return other.integer();
        return x / 2;
    }
  }

  double real(double x) {
    static constexpr double kEnds[] = {0, -0.0, 1, -1, 0.5, 1e-9, 5e-324, 1e-300, 1e9, 1e15, 9.3e18, 1e30, 1e300,
                                       std::numeric_limits<double>::max()};
    return below(2) == 0 ? kEnds[below(std::size(kEnds))] : x / 2;
  }

  std::string string(std::string x) {
    if (below(4) == 0)
      for (int tries = 0; tries < 8; ++tries)
        if (const Value& other = *nodes_[below(nodes_.size())]; other.is_string()) return other.string();
    std::vector<std::size_t> digits;  // where numbers begin
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::isdigit(static_cast<unsigned char>(x[i])) != 0 &&
          (i == 0 || std::isdigit(static_cast<unsigned char>(x[i - 1])) == 0))
        digits.push_back(i);
    if (!digits.empty() && below(8) != 0) {
      const std::size_t at = digits[below(digits.size())];
      std::size_t end = at;
      std::int64_t value = 0;
      while (end < x.size() && std::isdigit(static_cast<unsigned char>(x[end])) != 0 && end - at < 17) value = value * 10 + (x[end++] - '0');
      return x.replace(at, end - at, std::to_string(integer(value)));
    }
    const std::size_t size = x.size();
    x.resize(size + 8);
    x.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(x.data()), size, x.size()));
    return x;
  }

  void list(Value::Array& items) {
    if (items.empty()) {
      if (below(2) == 0) items.push_back(*nodes_[below(nodes_.size())]);
      return;
    }
    const auto at = [&] { return items.begin() + static_cast<std::ptrdiff_t>(below(items.size())); };
    switch (below(6)) {
      case 0:
        items.erase(at());
        break;
      case 1: {
        const Value copy = *at();
        items.insert(at(), copy);
        break;
      }
      case 2:
        std::iter_swap(at(), at());
        break;
      case 3: {
        const auto from = at();
        std::rotate(from, from + 1, items.end());
        break;
      }
      case 4:
        items.push_back(items.back());
        break;
      default:
        change(*at());
    }
  }

  Value& document_;
  std::minstd_rand random_;
  std::vector<Value*> nodes_;
};

}  // namespace
}  // namespace penstock::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  using namespace penstock;
  if (seed % 4 != 0 && size > 1) {
    auto document = parse_document({reinterpret_cast<const char*>(data), size}, "document");
    if (document && document->is_object()) {
      fuzz::Mutator(*document, seed / 4).run();
      const std::string out = to_json(*document, 0);
      if (out.size() <= max_size) {
        std::memcpy(data, out.data(), out.size());
        return out.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
