#include "traces/writers/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace penstock {
namespace {

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::Start ? "" : anchor == Anchor::Middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 && c != '\n' && c != '\t') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
      }
    }
  }
  return out;
}

std::string pixels(double x) {
  const auto hundredths = static_cast<std::int64_t>(std::llround(x * 100));
  std::string out = fmt::format("{}{}", hundredths < 0 ? "-" : "", std::abs(hundredths) / 100);
  const std::int64_t rest = std::abs(hundredths) % 100;
  if (rest != 0) out += rest % 10 == 0 ? fmt::format(".{}", rest / 10) : fmt::format(".{:02}", rest);
  return out;
}

std::string_view svg_shapes() {
  return "svg text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
         "svg .h{font-size:15px;font-weight:600}svg .s{font-size:9.5px}svg .n{font-size:10px;pointer-events:none}"
         "svg line,svg path{fill:none;stroke-width:1}svg .thick{stroke-width:1.5}svg .dash{stroke-dasharray:5 3}"
         "svg .halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}";
}

void Svg::open(std::string_view element, std::string_view attributes) {
  fmt::format_to(std::back_inserter(out_), "<{}{}{}>\n", element, attributes.empty() ? "" : " ", attributes);
}

void Svg::close(std::string_view element) { fmt::format_to(std::back_inserter(out_), "</{}>\n", element); }

void Svg::rect(double x, double y, double width, double height, std::string_view css, std::string_view title) {
  fmt::format_to(std::back_inserter(out_), R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}")", pixels(x), pixels(y),
                 pixels(width), pixels(height), css);
  if (title.empty()) {
    out_ += "/>\n";
  } else {
    fmt::format_to(std::back_inserter(out_), "><title>{}</title></rect>\n", xml_escaped(title));
  }
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css) {
  fmt::format_to(std::back_inserter(out_), "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", pixels(x1),
                 pixels(y1), pixels(x2), pixels(y2), css);
}

void Svg::text(double x, double y, std::string_view css, std::string_view text, Anchor anchor) {
  fmt::format_to(std::back_inserter(out_), "<text x=\"{}\" y=\"{}\" class=\"{}\"{}>{}</text>\n", pixels(x), pixels(y), css,
                 anchor_name(anchor), xml_escaped(text));
}

void Svg::path(std::string_view points, std::string_view css) {
  fmt::format_to(std::back_inserter(out_), "<path d=\"{}\" class=\"{}\"/>\n", points, css);
}

std::string svg_document(const Svg& body, double width, double height, std::string_view title, Standing standing,
                         const PaintsUsed& used, std::int32_t shades) {
  const std::string w = pixels(width), h = pixels(height);
  const bool alone = standing == Standing::Alone;
  std::string out = fmt::format("<svg{} viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\">\n",
                                alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", w, h, w, h);
  out += fmt::format("<title>{}</title>\n", xml_escaped(title));
  if (alone) {
    out += fmt::format("<style>{}{}</style>\n", svg_shapes(), svg_style(used, shades));
    out += fmt::format("<rect width=\"{}\" height=\"{}\" class=\"ground\"/>\n", w, h);
  }
  return out + body.str() + "</svg>\n";
}

double text_width(std::string_view text, double size) {
  // Bytes that continue a character of UTF-8 take no room of their own.
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return 0.6 * size * static_cast<double>(characters);
}

}  // namespace penstock
