#include "core/result.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace penstock {

std::string Where::text() const {
  std::string out = file;
  if (line > 0) out += fmt::format(":{}", line);
  if (line > 0 && column > 0) out += fmt::format(":{}", column);
  if (!pointer.empty()) out += "#" + pointer;
  return out;
}

std::string Error::text() const {
  std::string out = where.text();
  if (!out.empty()) out += ": ";
  out += message;
  if (!hint.empty()) out += " (hint: " + hint + ")";
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

void check_failed(const char* expression, std::string_view message, std::source_location where) {
  std::fprintf(stderr, "penstock: internal error at %s:%u: %s (%.*s)\n", where.file_name(), where.line(), expression,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace penstock
