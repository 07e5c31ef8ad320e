#pragma once

// One f32 matrix product, C = A·B (+ bias) (+ C), prepared once for its shape and run many times on
// raw pointers. By oneDNN: on the order of sums and on memory see exec/cpu/math/onednn.h; where it
// has no AVX-512 kernel ("gemm:jit"), oneDNN also allocates the buffer it packs into.
//
// Speed: dense operands (row or column stride 1, no gaps) take the fast kernels; gaps force
//   "gemm:jit".

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cpu {

class Primitive;

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
  Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) noexcept;
  ~Matmul();

  // Costs milliseconds (code generation). Unavailable if oneDNN has no kernel for the
  // specification.
  static Result<Matmul> prepare(const MatmulSpec& spec);

  // `bias` is ignored unless specified; `scratch` has scratch_bytes() at a 64-byte boundary.
  // Different objects may run on different threads at once; one object runs on one thread at a
  // time.
  void run(const float* a, const float* b, const float* bias, float* c, std::byte* scratch) const;

  Bytes scratch_bytes() const;
  const std::string& implementation() const;  // oneDNN's name: "brg:avx512_core"

 private:
  std::unique_ptr<Primitive> product_;
  bool bias_ = false;
};

}  // namespace penstock::cpu
