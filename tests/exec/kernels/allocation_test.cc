// Counts what a kernel's calls allocate once warm. oneDNN is known to allocate its table of arguments in every run; all else
// must be nothing.

#include <gtest/gtest.h>

#include <cstdlib>

#include "exec/cpu/math/matmul.h"
#include "tests/exec/kernels/kernel_harness.h"
#include "tests/support/allocation_recorder.h"

namespace penstock::cpu::testing {
namespace {

using test::Allocation;

constexpr std::size_t kNode = 128;  // bytes: what a node of oneDNN's table of arguments stays below

template <class Call>
std::vector<Allocation> allocations(Call call) {
  call();  // warm: per-thread state of OpenMP and oneDNN
  test::record_allocations();
  call();
  return test::recorded_allocations();
}

// A sanitizer owns the allocator.
class Allocations : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_record_allocations()) GTEST_SKIP() << "allocations cannot be recorded here";
  }
};

TEST_F(Allocations, IsNoticedHere) {
  const auto seen = allocations([] {
    void* volatile kept = std::malloc(100);  // or the compiler would leave them out
    std::free(kept);
    kept = ::operator new(10);
    ::operator delete(kept);
    std::vector<int>* volatile list = new std::vector<int>(50);
    delete list;
  });
  EXPECT_GE(seen.size(), 4u);
  for (const Allocation& allocation : seen) EXPECT_FALSE(test::is_from_onednn(allocation));
}

TEST_F(Allocations, DoesNotHappenInOurPartOfAnyKernel) {
  for (const Case& c : one_case_of_each_kind(3, 17, 24)) {
    Harness harness(c);
    const LayerOperands call = harness.operands();
    LayerOperands accumulating = call;
    accumulating.accumulate_input_gradient = true;
    LayerKernel& kernel = harness.kernel();
    const auto seen = allocations([&] {
      kernel.forward(call);
      kernel.backward_input(call);
      kernel.backward_input(accumulating);
      kernel.backward_weight(call);
    });
    const bool has_products = c.layer.kind == LayerKind::Linear ||
                              c.layer.kind == LayerKind::Attention ||
                              c.layer.kind == LayerKind::Conv2d;
    if (!has_products) {
      EXPECT_EQ(seen.size(), 0u) << c.text;
    }
    for (const Allocation& allocation : seen)
      EXPECT_TRUE(test::is_from_onednn(allocation)) << c.text << ": " << allocation.bytes << " bytes";
  }
}

TEST_F(Allocations, OfAPreparedProductIsAHandfulOfNodes) {
  for (const bool accumulate : {false, true}) {
    const std::int64_t rows = 512, in = 256, out = 384;
    const auto product = Matmul::prepare({.rows = rows,
                                          .columns = out,
                                          .inner = in,
                                          .a = row_major(in),
                                          .b = row_major(out),
                                          .c = row_major(out),
                                          .bias = true,
                                          .accumulate = accumulate});
    ASSERT_TRUE(product.has_value());
    if (product->implementation().rfind("brg:", 0) != 0)
      GTEST_SKIP() << "no AVX-512: oneDNN packs into buffers of its own";
    std::vector<float> a(rows * in), b(in * out), bias(out), c(rows * out);
    std::vector<std::byte> scratch(product->scratch_bytes().value);
    const auto seen = allocations(
        [&] { product->run(a.data(), b.data(), bias.data(), c.data(), scratch.data()); });
    EXPECT_LE(seen.size(), 8u);
    for (const Allocation& allocation : seen) {
      EXPECT_LT(allocation.bytes, kNode);
      EXPECT_TRUE(test::is_from_onednn(allocation));
    }
  }
}

TEST_F(Allocations, OfAConvolutionIsAFewNodesForItselfAndEachOfItsCopies) {
  constexpr std::size_t kLargestNode = 256;  // bytes
  constexpr std::size_t kMostNodes = 4 * 8;  // of a convolution and three copies
  const auto product = Matmul::prepare({.rows = 64,
                                        .columns = 196,
                                        .inner = 64,
                                        .a = row_major(64),
                                        .b = row_major(196),
                                        .c = row_major(196)});
  ASSERT_TRUE(product.has_value());
  if (product->implementation().rfind("brg:", 0) != 0)
    GTEST_SKIP() << "no AVX-512: oneDNN packs into buffers of its own";
  // Channels that fill no block of 16 make oneDNN clear the padding of its layout too.
  for (const Case& c :
       {conv2d_case(2, {64, 14, 14}, 64, {3, 1, 1}), conv2d_case(2, {17, 9, 9}, 5, {1, 2, 0}),
        conv2d_case(2, {64, 14, 14}, 64, {1, 1, 0})}) {
    Harness harness(c);
    const LayerOperands call = harness.operands();
    LayerKernel& kernel = harness.kernel();
    for (const auto& seen : {allocations([&] { kernel.forward(call); }),
                             allocations([&] { kernel.backward_input(call); }),
                             allocations([&] { kernel.backward_weight(call); })}) {
      EXPECT_LE(seen.size(), kMostNodes) << c.text;
      for (const Allocation& allocation : seen) {
        EXPECT_LT(allocation.bytes, kLargestNode) << c.text;
        EXPECT_TRUE(test::is_from_onednn(allocation)) << c.text;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
