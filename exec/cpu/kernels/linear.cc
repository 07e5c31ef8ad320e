#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"
#include "exec/cpu/math/matmul.h"

// y = x·W + b with W [in, out] and b [out]; all leading dimensions of x, the batch too, are rows.
//   dx = dy·Wᵀ      dW += xᵀ·dy      db += Σ_rows dy, row by row
// Wᵀ and xᵀ are read in place: the products are prepared for column-major operands.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void add_rows_to(const float* __restrict x, std::int64_t rows, std::int64_t columns,
                                 float* __restrict sum) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < columns; ++i) sum[i] += x[row * columns + i];
  }
}

struct Products {
  Matmul forward, input_gradient, input_gradient_added, weight_gradient;
};

class Linear final : public LayerKernel {
 public:
  Linear(std::int64_t rows, std::int64_t out, Products products)
      : rows_(rows), out_(out), products_(std::move(products)) {}

  void forward(const LayerOperands& operands) override {
    products_.forward.run(operands.inputs[0], operands.parameters[0], operands.parameters[1],
                          operands.output, operands.workspace);
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    const Matmul& product = operands.accumulate_input_gradient ? products_.input_gradient_added
                                                               : products_.input_gradient;
    product.run(operands.output_gradient, operands.parameters[0], nullptr,
                operands.input_gradients[0], operands.workspace);
  }

  void backward_weight(const LayerOperands& operands) override {
    products_.weight_gradient.run(operands.inputs[0], operands.output_gradient, nullptr,
                                  operands.parameter_gradients[0], operands.workspace);
    add_rows_to(operands.output_gradient, rows_, out_, operands.parameter_gradients[1]);
  }

  Bytes workspace_bytes() const override {
    return std::max({products_.forward.scratch_bytes(), products_.input_gradient.scratch_bytes(),
                     products_.input_gradient_added.scratch_bytes(),
                     products_.weight_gradient.scratch_bytes()});
  }

 private:
  std::int64_t rows_, out_;
  Products products_;
};

}  // namespace

KernelResult make_linear(const KernelRequest& request) {
  if (request.inputs.size() != 1) PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  const std::int64_t in = features(request.inputs[0]);
  const std::int64_t out = features(request.layer.output);
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {{in, out}, {out}}));
  const std::int64_t n = rows(request.inputs[0], request.microbatch);

  const MatmulSpec forward{.rows = n,
                           .columns = out,
                           .inner = in,
                           .a = row_major(in),
                           .b = row_major(out),
                           .c = row_major(out),
                           .bias = true};
  MatmulSpec input_gradient{.rows = n,
                            .columns = in,
                            .inner = out,
                            .a = row_major(out),
                            .b = column_major(out),
                            .c = row_major(in)};
  const MatmulSpec weight_gradient{.rows = in,
                                   .columns = out,
                                   .inner = n,
                                   .a = column_major(in),
                                   .b = row_major(out),
                                   .c = row_major(out),
                                   .accumulate = true};
  Products products;
  PENSTOCK_TRY(products.forward, Matmul::prepare(forward));
  PENSTOCK_TRY(products.input_gradient, Matmul::prepare(input_gradient));
  input_gradient.accumulate = true;
  PENSTOCK_TRY(products.input_gradient_added, Matmul::prepare(input_gradient));
  PENSTOCK_TRY(products.weight_gradient, Matmul::prepare(weight_gradient));
  return std::make_unique<Linear>(n, out, std::move(products));
}

}  // namespace penstock::cpu
