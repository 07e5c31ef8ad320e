#include "exec/cpu/kernels/matmul.h"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <array>

namespace penstock::cpu {
namespace {

// OpenMP's thread count belongs to the calling thread, so holding it here disturbs no one else. A
// few nanoseconds.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The engine describes the CPU and holds no state: one for the process, for as long as it lives.
dnnl_engine_t cpu_engine() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t created = nullptr;
    PENSTOCK_CHECK(dnnl_engine_create(&created, dnnl_cpu, 0) == dnnl_success,
                   "oneDNN always has a CPU engine");
    return created;
  }();
  return engine;
}

// Frees what the C interface hands out, on every way out of prepare().
template <class T, dnnl_status_t (*destroy)(T)>
struct Owned {
  T value = nullptr;
  Owned() = default;
  ~Owned() {
    if (value != nullptr) destroy(value);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
using Attributes = Owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Owned<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using Description = Owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;

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

dnnl_memory_t memory_without_data(const dnnl_memory_desc_t& desc) {
  dnnl_memory_t memory = nullptr;
  PENSTOCK_CHECK(dnnl_memory_create(&memory, &desc, cpu_engine(), DNNL_MEMORY_NONE) == dnnl_success,
                 "describing memory needs no resources");
  return memory;
}

tl::unexpected<Error> unavailable(const MatmulSpec& spec, dnnl_status_t status) {
  return fail(
      ErrorCode::Unavailable,
      fmt::format("oneDNN cannot prepare a matrix product of {}x{}x{} (batch {}): status {}",
                  spec.rows, spec.columns, spec.inner, spec.batch, static_cast<int>(status)),
      "use the oneDNN 2.6 of the distribution (libdnnl-dev)");
}

}  // namespace

void Matmul::Destroy::operator()(dnnl_stream* object) const {
  dnnl_stream_destroy(object);
}
void Matmul::Destroy::operator()(dnnl_primitive* object) const {
  dnnl_primitive_destroy(object);
}
void Matmul::Destroy::operator()(dnnl_memory* object) const {
  dnnl_memory_destroy(object);
}

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

  dnnl_matmul_desc_t product;
  if (auto status = dnnl_matmul_desc_init(&product, &a, &b, spec.bias ? &bias : nullptr, &c);
      status != dnnl_success) {
    return unavailable(spec, status);
  }
  Attributes attributes;
  PENSTOCK_CHECK(dnnl_primitive_attr_create(&attributes.value) == dnnl_success,
                 "attributes need no resources");
  dnnl_primitive_attr_set_scratchpad_mode(attributes.value, dnnl_scratchpad_mode_user);
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
    return unavailable(spec, status);
  }

  Matmul result;
  dnnl_primitive_t primitive = nullptr;
  if (auto status = dnnl_primitive_create(&primitive, description.value); status != dnnl_success) {
    return unavailable(spec, status);
  }
  result.primitive_.reset(primitive);
  dnnl_stream_t stream = nullptr;
  PENSTOCK_CHECK(
      dnnl_stream_create(&stream, cpu_engine(), dnnl_stream_default_flags) == dnnl_success,
      "a CPU stream needs no resources");
  result.stream_.reset(stream);
  const char* name = "";
  dnnl_primitive_desc_query(description.value, dnnl_query_impl_info_str, 0, &name);
  result.implementation_ = name;
  result.a_.reset(memory_without_data(a));
  result.b_.reset(memory_without_data(b));
  result.c_.reset(memory_without_data(c));
  if (spec.bias) result.bias_.reset(memory_without_data(bias));
  const dnnl_memory_desc_t* scratch =
      dnnl_primitive_desc_query_md(description.value, dnnl_query_scratchpad_md, 0);
  result.scratch_bytes_ =
      Bytes(scratch == nullptr ? 0 : static_cast<std::int64_t>(dnnl_memory_desc_get_size(scratch)));
  if (result.scratch_bytes_.value > 0) result.scratch_.reset(memory_without_data(*scratch));
  return result;
}

void Matmul::run(const float* a, const float* b, const float* bias, float* c,
                 std::byte* scratch) const {
  const OneThread one_thread;
  std::array<dnnl_exec_arg_t, 5> arguments;
  int count = 0;
  // oneDNN's handles are mutable whatever the role; A, B and the bias are only read.
  const auto bind = [&](int role, const Handle<dnnl_memory>& memory, const void* data) {
    dnnl_memory_set_data_handle(memory.get(), const_cast<void*>(data));
    arguments[count++] = {role, memory.get()};
  };
  bind(DNNL_ARG_SRC, a_, a);
  bind(DNNL_ARG_WEIGHTS, b_, b);
  bind(DNNL_ARG_DST, c_, c);
  if (bias_) bind(DNNL_ARG_BIAS, bias_, bias);
  if (scratch_) bind(DNNL_ARG_SCRATCHPAD, scratch_, scratch);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), count, arguments.data());
  PENSTOCK_CHECK(status == dnnl_success, "a prepared product runs");
}

}  // namespace penstock::cpu
