#include "core/units.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <random>

namespace penstock {
namespace {

TEST(Nanoseconds, RoundHalfAwayFromZero) {
  EXPECT_EQ(nanoseconds(1.5e-9).value, 2);
  EXPECT_EQ(nanoseconds(-2.5e-9).value, -3);
  EXPECT_EQ(nanoseconds(0.1).value, 100'000'000);
  EXPECT_EQ(nanoseconds(0).value, 0);
}

TEST(Nanoseconds, SaturateAtForever) {
  EXPECT_EQ(nanoseconds(1e300), kForever);
  EXPECT_EQ(nanoseconds(HUGE_VAL), kForever);
  EXPECT_EQ(nanoseconds(-1e300), -kForever);
}

TEST(Nanoseconds, SurviveTheTripThroughSeconds) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Nanoseconds t(static_cast<std::int64_t>(random() % 1'000'000'000'000'000));
    ASSERT_EQ(nanoseconds(seconds(t)), t);
  }
}

TEST(TransferTime, IsLatencyPlusBytesOverBandwidth) {
  EXPECT_EQ(transfer_time(Nanoseconds(5000), BytesPerSecond(1e9), Bytes(1000)).value, 6000);
  EXPECT_EQ(transfer_time(Nanoseconds(0), BytesPerSecond(3e9), Bytes(5)).value, 2);  // 1.67
  EXPECT_EQ(transfer_time(Nanoseconds(7), BytesPerSecond(0), Bytes(0)).value, 7);
}

TEST(TransferTime, OverADeadLinkIsForever) {
  EXPECT_EQ(transfer_time(Nanoseconds(7), BytesPerSecond(0), Bytes(1)), kForever);
  EXPECT_EQ(transfer_time(Nanoseconds(7), BytesPerSecond(HUGE_VAL), Bytes(1)).value, 7);
}

TEST(AlignUp, GoesToTheNextMultiple) {
  EXPECT_EQ(align_up(Bytes(0), 64).value, 0);
  EXPECT_EQ(align_up(Bytes(1), 64).value, 64);
  EXPECT_EQ(align_up(Bytes(64), 64).value, 64);
}

TEST(ParseTime, KnowsItsUnitsAndTakesBareNumbersAsSeconds) {
  EXPECT_EQ(parse_time("12ns")->value, 12);
  EXPECT_EQ(parse_time("0.1us")->value, 100);
  EXPECT_EQ(parse_time(" 4 ms ")->value, 4'000'000);
  EXPECT_EQ(parse_time("1.5s")->value, 1'500'000'000);
  EXPECT_EQ(parse_time("2")->value, 2'000'000'000);
  EXPECT_EQ(parse_time("1e-3")->value, 1'000'000);
}

TEST(ParseBytes, KnowsDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("16GiB")->value, 16LL << 30);
  EXPECT_EQ(parse_bytes("16GB")->value, 16'000'000'000);
  EXPECT_EQ(parse_bytes("1.5KiB")->value, 1536);
  EXPECT_EQ(parse_bytes("7")->value, 7);
  EXPECT_EQ(parse_bytes("3 TiB")->value, 3LL << 40);
  EXPECT_EQ(parse_bytes("1kB")->value, 1000);
}

TEST(ParseRates, KnowTheirUnits) {
  EXPECT_EQ(parse_bandwidth("1.25GB/s")->value, 1.25e9);
  EXPECT_EQ(parse_bandwidth("1MiB/s")->value, 1048576.0);
  EXPECT_EQ(parse_flop_rate("312TFLOP/s")->value, 312e12);
  EXPECT_EQ(parse_flop_rate("1e9")->value, 1e9);
}

TEST(ParseQuantities, RefuseInWordsForAUser) {
  EXPECT_EQ(parse_time("5 sec").error().message, "\"5 sec\" is not a time: unknown unit \"sec\"");
  EXPECT_EQ(parse_time("fast").error().message,
            "\"fast\" is not a time: it does not start with a number");
  EXPECT_EQ(parse_time("").error().message, "\"\" is not a time: it does not start with a number");
  EXPECT_EQ(parse_bytes("-1GiB").error().message,
            "\"-1GiB\" is not a number of bytes: it is negative");
  EXPECT_EQ(parse_bytes("nan").error().message,
            "\"nan\" is not a number of bytes: the number is not finite");
  EXPECT_EQ(parse_bytes("inf").error().message,
            "\"inf\" is not a number of bytes: the number is not finite");
  EXPECT_EQ(parse_bytes("1e999").error().message,
            "\"1e999\" is not a number of bytes: the number does not fit in a double");
  EXPECT_EQ(parse_bytes("9000000TiB").error().message,
            "\"9000000TiB\" is too large for a number of bytes");
  EXPECT_EQ(parse_time("1e30").error().message,
            "\"1e30\" is too large for a time (73 years at most)");
  EXPECT_FALSE(parse_bandwidth("1e308TB/s"));
  EXPECT_FALSE(parse_flop_rate("1e308PFLOP/s"));
  EXPECT_EQ(parse_bandwidth("25Gb/s").error().hint.substr(0, 19), "did you mean GB/s? ");
  EXPECT_EQ(parse_time("1,5ms").error().message, "\"1,5ms\" is not a time: unknown unit \",5ms\"");
  EXPECT_EQ(parse_time("5 sec").error().code, ErrorCode::BadInput);
}

TEST(ParseQuantities, DoNotDependOnTheLocale) {
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");
  if (german == nullptr) GTEST_SKIP() << "this machine has no German locale";
  EXPECT_EQ(parse_time("1.5ms")->value, 1'500'000);
  EXPECT_EQ(text(Nanoseconds(1'500'000)), "1.50 ms");
  std::setlocale(LC_ALL, "C");
}

TEST(Text, HasThreeDigitsAndAFittingUnit) {
  EXPECT_EQ(text(Nanoseconds(0)), "0 ns");
  EXPECT_EQ(text(Nanoseconds(999)), "999 ns");
  EXPECT_EQ(text(Nanoseconds(12'345'678)), "12.3 ms");
  EXPECT_EQ(text(Nanoseconds(-12'345'678)), "-12.3 ms");
  EXPECT_EQ(text(Nanoseconds(999'999)), "1.00 ms");
  EXPECT_EQ(text(Nanoseconds(9'999'000)), "10.0 ms");
  EXPECT_EQ(text(Nanoseconds(3'600'000'000'000)), "3600 s");
  EXPECT_EQ(text(kForever), "forever");
  EXPECT_EQ(text(Bytes(1023)), "1023 B");
  EXPECT_EQ(text(Bytes(4LL << 30)), "4.00 GiB");
  EXPECT_EQ(text(Bytes((1LL << 20) - 1)), "1.00 MiB");
  EXPECT_EQ(text(BytesPerSecond(25e9)), "25.0 GB/s");
  EXPECT_EQ(text(FlopsPerSecond(117e9)), "117 GFLOP/s");
}

}  // namespace
}  // namespace penstock
