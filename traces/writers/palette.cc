#include "traces/writers/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace penstock {
namespace {

struct Hue {
  std::string_view css, letter, meaning;
  Rgb light, dark;
};

constexpr Rgb rgb(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8 & 0xff),
          static_cast<std::uint8_t>(value & 0xff)};
}

// By Paint. Blue against orange for the two that fill most of a picture: no kind of colour blindness confuses them.
constexpr std::array<Hue, kPaints> kHues = {{
    {"f", "F", "forward", rgb(0x2563c9), rgb(0x4a86ea)},
    {"b", "B", "backward", rgb(0xe0901f), rgb(0xf29a2e)},
    {"i", "B", "input gradient", rgb(0xa83a0c), rgb(0xcf4a33)},
    {"w", "W", "weight gradient", rgb(0x0f9468), rgb(0x3cc98a)},
    {"r", "R", "recompute", rgb(0x6b2a8c), rgb(0x8a4bb0)},
    {"l", "", "loss", rgb(0xecd935), rgb(0xf5e663)},
    {"u", "", "update", rgb(0x2b3648), rgb(0xd8f0f6)},
    {"d", "", "load", rgb(0xb7c4b4), rgb(0x55606f)},
    {"m", "", "message", rgb(0x5cc4f0), rgb(0xa3b4ff)},
    {"c", "", "collective", rgb(0xe36bb0), rgb(0xd98cb4)},
    {"o", "", "other", rgb(0x8a8f98), rgb(0x7d8590)},
}};

struct Neutral {
  std::string_view css;
  Rgb light, dark;
};

constexpr std::array<Neutral, kTones> kNeutrals = {{
    {"ground", rgb(0xffffff), rgb(0x14181f)},
    {"panel", rgb(0xf3f5f8), rgb(0x1d232c)},
    {"text", rgb(0x1b2230), rgb(0xe6eaf0)},
    {"muted", rgb(0x5a6474), rgb(0x9aa5b4)},
    {"line", rgb(0xdde2e9), rgb(0x323a46)},
    {"predicted", rgb(0x2563c9), rgb(0x6aa0f5)},
    {"measured", rgb(0xc0641a), rgb(0xf29a2e)},
    {"limit", rgb(0xb3261e), rgb(0xff8a80)},
}};

const Hue& hue(Paint paint) { return kHues[static_cast<std::size_t>(paint)]; }

std::uint8_t mix(std::uint8_t from, std::uint8_t to, std::int32_t part, std::int32_t whole) {
  return static_cast<std::uint8_t>(from + (static_cast<std::int32_t>(to) - from) * part / whole);
}

double luminance(Rgb c) {
  const auto linear = [](std::uint8_t channel) {
    const double x = channel / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

std::string rules(Theme theme, const PaintsUsed& used, std::int32_t shades) {
  std::string out;
  for (std::size_t t = 0; t < kTones; ++t) {
    const auto tone = static_cast<Tone>(t);
    const std::string value = hex(colour(tone, theme));
    fmt::format_to(std::back_inserter(out), ".{0}{{fill:{1}}}.{0}-line{{stroke:{1}}}", name(tone), value);
  }
  for (std::size_t p = 0; p < kPaints; ++p) {
    if (!used[p]) continue;
    for (std::int32_t s = 0; s < shades; ++s) {
      const Rgb fill = colour(static_cast<Paint>(p), theme, s, shades);
      fmt::format_to(std::back_inserter(out), ".{0}{{fill:{1}}}.{0}t{{fill:{2}}}",
                     paint_class(static_cast<Paint>(p), s), hex(fill), hex(ink(fill)));
    }
  }
  return out;
}

}  // namespace

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

Paint paint_of(Op op) {
  switch (op) {
    case Op::F: return Paint::Forward;
    case Op::BF: return Paint::Backward;
    case Op::B: return Paint::InputGradient;
    case Op::W: return Paint::WeightGradient;
    case Op::R: return Paint::Recompute;
    case Op::Loss: return Paint::Loss;
    case Op::Load: return Paint::Load;
    case Op::Send:
    case Op::Recv:
    case Op::Xchg: return Paint::Message;
    case Op::AllReduce:
    case Op::ReduceScatter:
    case Op::Gather:
    case Op::Reshard: return Paint::Collective;
    case Op::Step:
    case Op::Validate:
    case Op::Rollback:
    case Op::UseW:
    case Op::Ema:
    case Op::Publish:
    case Op::Refresh: return Paint::Update;
    case Op::Fuse:
    case Op::Offload:
    case Op::Reload:
    case Op::Fill:
    case Op::Wait:
    case Op::Free: return Paint::Other;
  }
  return Paint::Other;
}

std::string_view meaning(Paint paint) { return hue(paint).meaning; }
std::string_view letter(Paint paint) { return hue(paint).letter; }

Rgb colour(Paint paint, Theme theme, std::int32_t shade, std::int32_t shades) {
  const Rgb from = theme == Theme::Light ? hue(paint).light : hue(paint).dark;
  const Rgb to = theme == Theme::Light ? rgb(0xffffff) : rgb(0x000000);
  // At most 55 % of the way to the ground: the lightest must still be seen.
  const std::int32_t part = 55 * shade, whole = 100 * std::max(1, shades - 1);
  return {mix(from.red, to.red, part, whole), mix(from.green, to.green, part, whole), mix(from.blue, to.blue, part, whole)};
}

Rgb ink(Rgb ground) {
  constexpr Rgb kDark = rgb(0x10151c), kLight = rgb(0xffffff);
  const double here = luminance(ground) + 0.05;
  return here / (luminance(kDark) + 0.05) >= (luminance(kLight) + 0.05) / here ? kDark : kLight;
}

Rgb colour(Tone tone, Theme theme) {
  const Neutral& neutral = kNeutrals[static_cast<std::size_t>(tone)];
  return theme == Theme::Light ? neutral.light : neutral.dark;
}

std::string_view name(Tone tone) { return kNeutrals[static_cast<std::size_t>(tone)].css; }

std::string paint_class(Paint paint, std::int32_t shade) { return fmt::format("{}{}", hue(paint).css, shade); }

std::string svg_style(const PaintsUsed& used, std::int32_t shades) {
  return fmt::format("{}@media (prefers-color-scheme:dark){{{}}}", rules(Theme::Light, used, shades),
                     rules(Theme::Dark, used, shades));
}

std::string css_variables(Theme theme, std::int32_t shades) {
  std::string out;
  for (std::size_t t = 0; t < kTones; ++t) {
    const auto tone = static_cast<Tone>(t);
    fmt::format_to(std::back_inserter(out), "--{}:{};", name(tone), hex(colour(tone, theme)));
  }
  for (std::size_t p = 0; p < kPaints; ++p) {
    for (std::int32_t s = 0; s < shades; ++s) {
      const Rgb fill = colour(static_cast<Paint>(p), theme, s, shades);
      fmt::format_to(std::back_inserter(out), "--{0}:{1};--{0}t:{2};", paint_class(static_cast<Paint>(p), s), hex(fill),
                     hex(ink(fill)));
    }
  }
  return out;
}

std::string css_classes() {
  std::string out;
  for (std::size_t t = 0; t < kTones; ++t) {
    fmt::format_to(std::back_inserter(out), "svg .{0}{{fill:var(--{0})}}svg .{0}-line{{stroke:var(--{0})}}",
                   name(static_cast<Tone>(t)));
  }
  return out;
}

}  // namespace penstock
