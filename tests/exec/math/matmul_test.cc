#include "exec/cpu/math/matmul.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::cpu {
namespace {

// Values whose products and sums are exact in f32, so that any order of addition gives the same
// bits.
std::vector<float> small_integers(std::size_t count, int seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(static_cast<int>((i * 7 + seed * 13) % 11) - 5);
  return values;
}

std::size_t extent(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                   const MatrixLayout& layout) {
  return static_cast<std::size_t>((batch - 1) * layout.batch + (rows - 1) * layout.row +
                                  (columns - 1) * layout.column + 1);
}

void expect_exact(const MatmulSpec& spec) {
  const auto product = Matmul::prepare(spec);
  ASSERT_TRUE(product.has_value()) << product.error().text();
  const std::vector<float> a = small_integers(extent(spec.batch, spec.rows, spec.inner, spec.a), 1);
  const std::vector<float> b =
      small_integers(extent(spec.batch, spec.inner, spec.columns, spec.b), 2);
  const std::vector<float> bias = small_integers(static_cast<std::size_t>(spec.columns), 3);
  std::vector<float> c = small_integers(extent(spec.batch, spec.rows, spec.columns, spec.c), 4);
  std::vector<float> want = c;  // gaps keep what they hold
  const auto at = [](const MatrixLayout& layout, std::int64_t n, std::int64_t r, std::int64_t k) {
    return static_cast<std::size_t>(n * layout.batch + r * layout.row + k * layout.column);
  };
  for (std::int64_t n = 0; n < spec.batch; ++n) {
    for (std::int64_t i = 0; i < spec.rows; ++i) {
      for (std::int64_t j = 0; j < spec.columns; ++j) {
        float sum = spec.bias ? bias[j] : 0.0f;
        for (std::int64_t k = 0; k < spec.inner; ++k)
          sum += a[at(spec.a, n, i, k)] * b[at(spec.b, n, k, j)];
        float& out = want[at(spec.c, n, i, j)];
        out = spec.accumulate ? out + sum : sum;
      }
    }
  }
  std::vector<std::byte> scratch(static_cast<std::size_t>(product->scratch_bytes().value));
  product->run(a.data(), b.data(), bias.data(), c.data(), scratch.data());
  EXPECT_EQ(c, want) << product->implementation() << ' ' << spec.rows << 'x' << spec.columns << 'x'
                     << spec.inner;
}

TEST(Matmul, IsExactOnIntegersForEveryTransposition) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1), std::tuple(5, 17, 8), std::tuple(64, 24, 51),
                                std::tuple(130, 70, 33)}) {
    for (const MatrixLayout& a : {row_major(k), column_major(m)}) {
      for (const MatrixLayout& b : {row_major(n), column_major(k)}) {
        expect_exact({.rows = m, .columns = n, .inner = k, .a = a, .b = b, .c = row_major(n)});
        expect_exact({.rows = m,
                      .columns = n,
                      .inner = k,
                      .a = a,
                      .b = b,
                      .c = row_major(n),
                      .accumulate = true});
        expect_exact(
            {.rows = m, .columns = n, .inner = k, .a = a, .b = b, .c = row_major(n), .bias = true});
        expect_exact({.rows = m,
                      .columns = n,
                      .inner = k,
                      .a = a,
                      .b = b,
                      .c = row_major(n),
                      .bias = true,
                      .accumulate = true});
      }
    }
  }
}

TEST(Matmul, TakesBatchesAndLeavesGapsBetweenRowsAlone) {
  const std::int64_t m = 9, n = 20, k = 16, heads = 3;
  MatmulSpec spec{.rows = m,
                  .columns = n,
                  .inner = k,
                  .a = {.row = k, .column = 1, .batch = m * k},
                  .b = {.row = 1, .column = k, .batch = n * k},
                  .c = {.row = n, .column = 1, .batch = m * n},
                  .batch = heads};
  expect_exact(spec);
  spec.bias = true;
  expect_exact(spec);
  spec.bias = false;
  // Heads side by side in each row, as in a packed q | k | v.
  spec.a = {.row = heads * k, .column = 1, .batch = k};
  spec.c = {.row = heads * n + 5, .column = 1, .batch = n};
  expect_exact(spec);
  spec.accumulate = true;
  expect_exact(spec);
}

TEST(Matmul, LeavesTheCallersThreadCountAsItWas) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer cannot see OpenMP's barriers, and this test needs one";
#endif
  int before = 0, after = 0;
  // A new thread starts with OpenMP's default, whatever other tests did here.
  std::jthread([&] {
    const auto threads = [] {
      int count = 0;
#pragma omp parallel reduction(+ : count)
      count += 1;
      return count;
    };
    before = threads();
    expect_exact({.rows = 5,
                  .columns = 6,
                  .inner = 7,
                  .a = row_major(7),
                  .b = row_major(6),
                  .c = row_major(6)});
    after = threads();
  }).join();
  EXPECT_EQ(after, before);
  if (before == 1) GTEST_SKIP() << "OpenMP has one thread here, so there is nothing to restore";
}

TEST(Matmul, ReportsTheScratchItNeedsAndTheKernelItChose) {
  const auto product = Matmul::prepare({.rows = 512,
                                        .columns = 512,
                                        .inner = 512,
                                        .a = column_major(512),
                                        .b = row_major(512),
                                        .c = row_major(512),
                                        .accumulate = true});
  ASSERT_TRUE(product.has_value());
  EXPECT_FALSE(product->implementation().empty());
  EXPECT_NE(product->implementation().find(':'), std::string::npos) << product->implementation();
  EXPECT_EQ(product->implementation().find("ref"), std::string::npos)
      << "the slow reference kernel was chosen";
}

}  // namespace
}  // namespace penstock::cpu
