#pragma once

// One f32 matrix product, C = A·B (+ bias) (+ C), prepared once for its shape and run many times on
// raw pointers. The only user of oneDNN (2.6, the v2 interface) in the project.
//
// Order: one thread, so the order of every sum depends on the shape and on the instruction set
//   alone. oneDNN takes its thread count from OpenMP's per-thread setting: held at 1 while
//   preparing and while running.
// Memory: scratch comes from the caller and we allocate nothing. oneDNN itself allocates a handful
//   of nodes (< 128 bytes each) for its table of arguments in every run; where it has no AVX-512
//   kernel ("gemm:jit"), also the buffer it packs into.
// Speed: dense operands (row or column stride 1, no gaps) take the fast kernels; gaps force
//   "gemm:jit".

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "core/units.h"

struct dnnl_memory;
struct dnnl_primitive;
struct dnnl_stream;

namespace penstock::cpu {

// Distances in elements between neighbours of a matrix held in a flat array.
struct MatrixLayout {
  std::int64_t row = 0;
  std::int64_t column = 1;
  std::int64_t batch = 0;
};

// Element (r, c) of a matrix with that many columns, stored row after row; or of one stored column
// after column, i.e. the transpose of a row-major matrix with `rows` columns.
constexpr MatrixLayout row_major(std::int64_t columns) {
  return {.row = columns, .column = 1};
}
constexpr MatrixLayout column_major(std::int64_t rows) {
  return {.row = 1, .column = rows};
}

struct MatmulSpec {
  // C [rows, columns] = A [rows, inner] · B [inner, columns]
  std::int64_t rows = 0, columns = 0, inner = 0;
  MatrixLayout a, b, c;
  std::int64_t batch = 1;   // products that differ by their layouts' `batch` distance alone
  bool bias = false;        // add a vector [columns] to every row
  bool accumulate = false;  // add to what C holds
};

class Matmul {
 public:
  // Costs milliseconds (code generation). Unavailable if oneDNN has no kernel for the
  // specification.
  static Result<Matmul> prepare(const MatmulSpec& spec);

  // `bias` is ignored unless specified; `scratch` has scratch_bytes() at a 64-byte boundary.
  // Different objects may run on different threads at once; one object runs on one thread at a
  // time.
  void run(const float* a, const float* b, const float* bias, float* c, std::byte* scratch) const;

  Bytes scratch_bytes() const { return scratch_bytes_; }
  const std::string& implementation() const {
    return implementation_;
  }  // oneDNN's name: "brg:avx512_core"

 private:
  struct Destroy {
    void operator()(dnnl_stream* object) const;
    void operator()(dnnl_primitive* object) const;
    void operator()(dnnl_memory* object) const;
  };
  template <class T>
  using Handle = std::unique_ptr<T, Destroy>;

  Handle<dnnl_stream> stream_;
  Handle<dnnl_primitive> primitive_;
  Handle<dnnl_memory> a_, b_, bias_, c_,
      scratch_;  // descriptions whose data pointers each run sets
  Bytes scratch_bytes_;
  std::string implementation_;
};

}  // namespace penstock::cpu
