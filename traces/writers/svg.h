#pragma once

// Pieces of SVG, written front to back. Coordinates are pixels, kept to a hundredth. What is text is escaped.

#include <string>
#include <string_view>

#include "traces/writers/palette.h"

namespace penstock {

// & < > " ' and what XML 1.0 forbids (control characters: written as U+FFFD). UTF-8 stays as it is.
std::string xml_escaped(std::string_view text);

enum class Anchor : std::uint8_t { Start, Middle, End };

class Svg {
 public:
  void open(std::string_view element, std::string_view attributes = "");  // "g", "class=\"rank\""
  void close(std::string_view element);
  // `title` is shown while the pointer rests on it; "" for none.
  void rect(double x, double y, double width, double height, std::string_view css, std::string_view title = "");
  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void text(double x, double y, std::string_view css, std::string_view text, Anchor anchor = Anchor::Start);
  // `points` as an SVG path: "M0 0H5V3".
  void path(std::string_view points, std::string_view css);

  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

std::string pixels(double x);  // "12.5": two decimals at most, none needless; never "-0"

// Where it stands: a file of its own names its language and has its own colours; inside a page it takes those of the page.
enum class Standing : std::uint8_t { Alone, Inline };
std::string svg_document(const Svg& body, double width, double height, std::string_view title, Standing standing,
                         const PaintsUsed& used, std::int32_t shades);

// Rules for sizes of text, lines and borders: a picture inside a page needs them from the page.
std::string_view svg_shapes();

// What text of that size takes, roughly, of any sans-serif: for deciding whether a name fits.
double text_width(std::string_view text, double size);

}  // namespace penstock
