#include "traces/writers/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/traces/xml_check.h"

namespace penstock {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// How colours look, in linear RGB, with full strength of each deficiency: Machado, Oliveira, Fernandes, "A physiologically-based
// model for simulation of color vision deficiency", IEEE TVCG 2009, table of matrices, severity 1.0.
constexpr std::array<Matrix, 4> kEyes = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},  // protanopia
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},   // deuteranopia
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},  // tritanopia
}};

double linear(std::uint8_t channel) {
  const double x = channel / 255.0;
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

Vector seen(Rgb colour, const Matrix& eye) {
  const Vector in = {linear(colour.red), linear(colour.green), linear(colour.blue)};
  Vector out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = std::clamp(eye[i][0] * in[0] + eye[i][1] * in[1] + eye[i][2] * in[2], 0.0, 1.0);
  return out;
}

// CIE 1976 L*a*b*, white D65.
Vector lab(const Vector& c) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505);
  const double y = f(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
  const double z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(Rgb a, Rgb b, const Matrix& eye) {
  const Vector p = lab(seen(a, eye)), q = lab(seen(b, eye));
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double contrast(Rgb a, Rgb b) {
  const auto luminance = [](Rgb c) { return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue); };
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

TEST(Palette, EveryTwoKindsOfOperationsDifferForEveryKindOfEye) {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    for (std::size_t a = 0; a < kPaints; ++a) {
      for (std::size_t b = a + 1; b < kPaints; ++b) {
        if (static_cast<Paint>(b) == Paint::Other) continue;  // grey: what no rule here speaks of
        for (std::size_t eye = 0; eye < kEyes.size(); ++eye) {
          EXPECT_GE(distance(colour(static_cast<Paint>(a), theme), colour(static_cast<Paint>(b), theme), kEyes[eye]), 14)
              << meaning(static_cast<Paint>(a)) << " and " << meaning(static_cast<Paint>(b)) << ", eye " << eye;
        }
      }
    }
  }
}

TEST(Palette, ForwardAndBackwardAreFarApart) {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    for (const Matrix& eye : kEyes)
      EXPECT_GE(distance(colour(Paint::Forward, theme), colour(Paint::Backward, theme), eye), 50);
  }
}

TEST(Palette, TextIsLegibleOnEveryShadeAndTone) {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    for (std::size_t p = 0; p < kPaints; ++p) {
      for (std::int32_t s = 0; s < 4; ++s) {
        const Rgb ground = colour(static_cast<Paint>(p), theme, s, 4);
        EXPECT_GE(contrast(ground, ink(ground)), 4.3) << meaning(static_cast<Paint>(p)) << " shade " << s;
      }
    }
    for (const Tone tone : {Tone::Text, Tone::Muted, Tone::Limit}) {
      EXPECT_GE(contrast(colour(tone, theme), colour(Tone::Ground, theme)), 4.5) << name(tone);
      EXPECT_GE(contrast(colour(tone, theme), colour(Tone::Panel, theme)), 4.5) << name(tone);
    }
  }
}

TEST(Palette, ShadesOfOneHueDifferAndTheFirstIsTheHue) {
  for (std::int32_t shades = 2; shades <= 8; ++shades) {
    EXPECT_EQ(colour(Paint::Forward, Theme::Light, 0, shades), colour(Paint::Forward, Theme::Light));
    for (std::int32_t s = 1; s < shades; ++s) {
      EXPECT_NE(colour(Paint::Forward, Theme::Light, s, shades), colour(Paint::Forward, Theme::Light, s - 1, shades));
    }
  }
}

TEST(Palette, EveryOperationHasAPaintAndEveryPaintAName) {
  for (const auto& [op, op_name] : kOpNames) EXPECT_FALSE(meaning(paint_of(op)).empty()) << op_name;
  EXPECT_EQ(paint_of(Op::F), Paint::Forward);
  EXPECT_EQ(paint_of(Op::BF), Paint::Backward);
  EXPECT_EQ(paint_of(Op::B), Paint::InputGradient);
  EXPECT_EQ(paint_of(Op::Recv), Paint::Message);
  EXPECT_EQ(paint_of(Op::AllReduce), Paint::Collective);
}

TEST(Palette, AStyleHasBothThemesAndOnlyWhatIsUsed) {
  PaintsUsed used{};
  used[static_cast<std::size_t>(Paint::Forward)] = true;
  const std::string style = svg_style(used, 2);
  EXPECT_EQ(test::occurrences(style, ".f0{"), 2u);
  EXPECT_EQ(test::occurrences(style, ".f1{"), 2u);
  EXPECT_EQ(test::occurrences(style, ".b0{"), 0u);
  EXPECT_EQ(test::occurrences(style, "prefers-color-scheme:dark"), 1u);
  EXPECT_EQ(test::occurrences(style, "{"), test::occurrences(style, "}"));
  EXPECT_EQ(test::occurrences(css_variables(Theme::Dark, 2), "--f1:"), 1u);
  EXPECT_NE(css_variables(Theme::Dark, 1), css_variables(Theme::Light, 1));
}

}  // namespace
}  // namespace penstock
