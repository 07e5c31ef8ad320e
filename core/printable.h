#pragma once

// Text from files and command lines may hold bytes that a terminal obeys instead of showing: escape
// sequences that repaint what was said, or marks that turn the direction of writing. Whatever is
// printed for people passes through here.

#include <string>
#include <string_view>

namespace penstock {

// With everything that is no plain character written out: control characters as \x1b, \r, \t; C1
// controls and marks of direction as \u{9b}, \u{202e}; bytes that are not UTF-8 as \xff. Line ends
// stay where `keep_lines`, and are \n else.
std::string printable(std::string_view text, bool keep_lines = false);

}  // namespace penstock
