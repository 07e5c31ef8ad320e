#include "exec/cpu/math/matmul.h"

#include <fmt/format.h>

#include <array>

#include "exec/cpu/math/onednn.h"

namespace penstock::cpu {
namespace {

// A batch of one stays two-dimensional: the kernels with fewer dimensions have less to loop over.
dnnl_memory_desc_t describe(const MatmulSpec& spec, std::int64_t rows, std::int64_t columns,
                            const MatrixLayout& layout) {
  dnnl_memory_desc_t desc;
  const std::array<dnnl_dim_t, 3> dims = {spec.batch, rows, columns};
  const std::array<dnnl_dim_t, 3> strides = {layout.batch, layout.row, layout.column};
  const int skipped = spec.batch > 1 ? 0 : 1;
  const dnnl_status_t status = dnnl_memory_desc_init_by_strides(
      &desc, 3 - skipped, dims.data() + skipped, dnnl_f32, strides.data() + skipped);
  PENSTOCK_CHECK(status == dnnl_success, "a matrix has positive sizes and strides");
  return desc;
}

}  // namespace

Matmul::Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;
Matmul& Matmul::operator=(Matmul&&) noexcept = default;
Matmul::~Matmul() = default;

Result<Matmul> Matmul::prepare(const MatmulSpec& spec) {
  PENSTOCK_CHECK(spec.rows > 0 && spec.columns > 0 && spec.inner > 0 && spec.batch > 0,
                 "a product has positive sizes");
  const OneThread one_thread;  // the blocking is chosen for the thread count seen here
  const dnnl_memory_desc_t a = describe(spec, spec.rows, spec.inner, spec.a);
  const dnnl_memory_desc_t b = describe(spec, spec.inner, spec.columns, spec.b);
  const dnnl_memory_desc_t c = describe(spec, spec.rows, spec.columns, spec.c);
  // One row, shared by all rows (and by the whole batch).
  MatmulSpec vector = spec;
  vector.batch = 1;
  dnnl_memory_desc_t bias = describe(vector, 1, spec.columns, row_major(spec.columns));
  if (spec.batch > 1) {
    const dnnl_dims_t dims = {1, 1, spec.columns};
    PENSTOCK_CHECK(dnnl_memory_desc_init_by_tag(&bias, 3, dims, dnnl_f32, dnnl_abc) == dnnl_success,
                   "a plain vector");
  }

  const std::string what = fmt::format("a matrix product of {}x{}x{} (batch {})", spec.rows,
                                       spec.columns, spec.inner, spec.batch);
  dnnl_matmul_desc_t product;
  if (auto status = dnnl_matmul_desc_init(&product, &a, &b, spec.bias ? &bias : nullptr, &c);
      status != dnnl_success) {
    return onednn_failed(what, status);
  }
  const Attributes attributes = plain_attributes();
  if (spec.accumulate) {
    PostOps sum;
    PENSTOCK_CHECK(
        dnnl_post_ops_create(&sum.value) == dnnl_success &&
            dnnl_post_ops_append_sum(sum.value, 1.0f) == dnnl_success &&
            dnnl_primitive_attr_set_post_ops(attributes.value, sum.value) == dnnl_success,
        "C + A·B is a plain post-operation");
  }
  Description description;
  if (auto status = dnnl_primitive_desc_create(&description.value, &product, attributes.value,
                                               cpu_engine(), nullptr);
      status != dnnl_success) {
    return onednn_failed(what, status);
  }
  const Primitive::Argument in_a{DNNL_ARG_SRC, a}, in_b{DNNL_ARG_WEIGHTS, b}, out{DNNL_ARG_DST, c};
  Result<Primitive> primitive =
      spec.bias
          ? Primitive::prepare(description, {in_a, in_b, out, {DNNL_ARG_BIAS, bias}}, what)
          : Primitive::prepare(description, {in_a, in_b, out}, what);
  if (!primitive) return tl::unexpected(primitive.error());
  Matmul result;
  result.product_ = std::make_unique<Primitive>(std::move(*primitive));
  result.bias_ = spec.bias;
  return result;
}

void Matmul::run(const float* a, const float* b, const float* bias, float* c,
                 std::byte* scratch) const {
  if (bias_) {
    product_->run({a, b, c, bias}, scratch);
  } else {
    product_->run({a, b, c}, scratch);
  }
}

Bytes Matmul::scratch_bytes() const {
  return product_->scratch_bytes();
}
const std::string& Matmul::implementation() const {
  return product_->implementation();
}

}  // namespace penstock::cpu
