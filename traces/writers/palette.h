#pragma once

// The colours of all pictures, in one place. What an operation is decides its hue; where a rank holds several stages (chunks,
// networks, directions), each has a shade of it. Every two hues differ for people with any of the three kinds of colour
// blindness, on light and on dark ground (tests/traces/writers/palette_test.cc measures it), and text on them is legible.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/op.h"

namespace penstock {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Rgb&) const = default;
};
std::string hex(Rgb colour);  // "#2563c9"

enum class Theme : std::uint8_t { Light, Dark };

// What is drawn alike.
enum class Paint : std::uint8_t {
  Forward,
  Backward,
  InputGradient,
  WeightGradient,
  Recompute,
  Loss,
  Update,
  Load,
  Message,
  Collective,
  Other,
};
inline constexpr std::size_t kPaints = 11;
Paint paint_of(Op op);
std::string_view meaning(Paint paint);  // "weight gradient"
std::string_view letter(Paint paint);   // "F" before a microbatch's number; "" where there is none

// Shade `shade` of `shades`: the first is the hue itself, the last the lightest (on dark ground the darkest).
Rgb colour(Paint paint, Theme theme, std::int32_t shade = 0, std::int32_t shades = 1);
// Black or white, whichever is easier to read on it.
Rgb ink(Rgb ground);

// What is neither operation nor text on one.
enum class Tone : std::uint8_t { Ground, Panel, Text, Muted, Line, Predicted, Measured, Limit };
inline constexpr std::size_t kTones = 8;
Rgb colour(Tone tone, Theme theme);
std::string_view name(Tone tone);  // "ground": of the class and of the CSS variable

// Of SVG classes: paint p in shade s is "ps", e.g. "f0", text on it "f0t"; a tone is its name.
std::string paint_class(Paint paint, std::int32_t shade);

using PaintsUsed = std::array<bool, kPaints>;
// Rules for a picture that stands alone: plain colours for light ground, and the dark ones where the reader prefers them.
std::string svg_style(const PaintsUsed& used, std::int32_t shades);
// The body of a rule for a page: "--ground:#fff;--f0:#2563c9;--f0t:#fff;…".
std::string css_variables(Theme theme, std::int32_t shades);
// The same classes as svg_style, by variables: for pictures inside a page.
std::string css_classes();

}  // namespace penstock
