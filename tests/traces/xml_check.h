#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::test {

// What is not well-formed about a document, with its line, or "": elements nest and end, attributes are quoted and named
// once, '<' and '&' stand only where markup begins, there is one root. A doctype may come first; what is inside <script>
// and <style> is not markup, as in HTML.
std::string xml_fault(std::string_view document);

// How often `what` occurs in `text`.
std::size_t occurrences(std::string_view text, std::string_view what);

}  // namespace penstock::test
