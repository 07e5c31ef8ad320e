// Counts what a kernel's calls allocate once warm, by standing in front of the allocator for this
// executable. oneDNN is known to allocate its table of arguments in every run; all else must be
// nothing.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "exec/cpu/math/matmul.h"
#include "tests/exec/kernels/kernel_harness.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

struct Allocation {
  const void* caller;
  std::size_t bytes;
};
constexpr std::size_t kMost = 4096;
thread_local std::array<Allocation, kMost> recorded;
thread_local std::size_t recorded_count = 0;
thread_local bool recording = false;

void record(const void* caller, std::size_t bytes) {
  if (recording && recorded_count < kMost) recorded[recorded_count++] = {caller, bytes};
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  record(__builtin_return_address(0), count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}
}

// Replaced so that the caller is known: the standard library's own would always be malloc's caller.
void* operator new(std::size_t bytes) {
  record(__builtin_return_address(0), bytes);
  if (void* result = __libc_malloc(bytes)) return result;
  throw std::bad_alloc();
}
void operator delete(void* pointer) noexcept {
  std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
  std::free(pointer);
}

namespace penstock::cpu::testing {
namespace {

constexpr std::size_t kNode = 128;  // bytes: what a node of oneDNN's table of arguments stays below

bool from_onednn(const Allocation& allocation) {
  Dl_info info{};
  return dladdr(allocation.caller, &info) != 0 && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

template <class Call>
std::vector<Allocation> allocations(Call call) {
  call();  // warm: per-thread state of OpenMP and oneDNN
  recorded_count = 0;
  recording = true;
  call();
  recording = false;
  return {recorded.begin(), recorded.begin() + static_cast<std::ptrdiff_t>(recorded_count)};
}

TEST(Allocation, IsNoticedHere) {
  const auto seen = allocations([] {
    std::free(std::malloc(100));
    void* volatile kept = ::operator new(10);
    ::operator delete(kept);
    delete new std::vector<int>(50);
  });
  EXPECT_GE(seen.size(), 4u);
  for (const Allocation& allocation : seen) EXPECT_FALSE(from_onednn(allocation));
}

TEST(Allocation, DoesNotHappenInOurPartOfAnyKernel) {
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
      EXPECT_TRUE(from_onednn(allocation)) << c.text << ": " << allocation.bytes << " bytes";
  }
}

TEST(Allocation, OfAPreparedProductIsAHandfulOfNodes) {
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
      EXPECT_TRUE(from_onednn(allocation));
    }
  }
}

TEST(Allocation, OfAConvolutionIsAFewNodesForItselfAndEachOfItsCopies) {
  constexpr std::size_t kLargestNode = 256;  // bytes
  constexpr std::size_t kMostNodes = 4 * 8;  // of a convolution and three copies
  const auto product =
      Matmul::prepare({.rows = 64, .columns = 196, .inner = 64, .a = row_major(64), .b = row_major(196), .c = row_major(196)});
  ASSERT_TRUE(product.has_value());
  if (product->implementation().rfind("brg:", 0) != 0)
    GTEST_SKIP() << "no AVX-512: oneDNN packs into buffers of its own";
  // Channels that fill no block of 16 make oneDNN clear the padding of its layout too.
  for (const Case& c : {conv2d_case(2, {64, 14, 14}, 64, {3, 1, 1}),
                        conv2d_case(2, {17, 9, 9}, 5, {1, 2, 0}),
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
        EXPECT_TRUE(from_onednn(allocation)) << c.text;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
#else
TEST(Allocation, DoesNotHappenInOurPartOfAnyKernel) {
  GTEST_SKIP() << "a sanitizer owns the allocator";
}
#endif
