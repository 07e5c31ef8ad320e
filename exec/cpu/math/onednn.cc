#include "exec/cpu/math/onednn.h"

#include <fmt/format.h>
#include <omp.h>

namespace penstock::cpu {
namespace {

Owned<dnnl_memory_t, dnnl_memory_destroy> memory_without_data(const dnnl_memory_desc_t& layout) {
  Owned<dnnl_memory_t, dnnl_memory_destroy> memory;
  PENSTOCK_CHECK(
      dnnl_memory_create(&memory.value, &layout, cpu_engine(), DNNL_MEMORY_NONE) == dnnl_success,
      "describing memory needs no resources");
  return memory;
}

}  // namespace

OneThread::OneThread() : before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
OneThread::~OneThread() {
  omp_set_num_threads(before_);
}

dnnl_engine_t cpu_engine() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t created = nullptr;
    PENSTOCK_CHECK(dnnl_engine_create(&created, dnnl_cpu, 0) == dnnl_success,
                   "oneDNN always has a CPU engine");
    return created;
  }();
  return engine;
}

Attributes plain_attributes() {
  Attributes attributes;
  PENSTOCK_CHECK(
      dnnl_primitive_attr_create(&attributes.value) == dnnl_success &&
          dnnl_primitive_attr_set_scratchpad_mode(attributes.value, dnnl_scratchpad_mode_user) ==
              dnnl_success &&
          dnnl_primitive_attr_set_fpmath_mode(attributes.value, dnnl_fpmath_mode_strict) ==
              dnnl_success,
      "attributes need no resources");
  return attributes;
}

tl::unexpected<Error> onednn_failed(const std::string& what, dnnl_status_t status) {
  return fail(ErrorCode::Unavailable,
              fmt::format("oneDNN cannot prepare {}: status {}", what, static_cast<int>(status)),
              "use the oneDNN 2.6 of the distribution (libdnnl-dev)");
}

Result<Primitive> Primitive::prepare(const Description& description,
                                     std::initializer_list<Argument> arguments,
                                     const std::string& what) {
  PENSTOCK_CHECK(arguments.size() <= kMostArguments, "there is a slot for every argument");
  const OneThread one_thread;  // the blocking is chosen for the thread count seen here
  Primitive result;
  if (auto status = dnnl_primitive_create(&result.primitive_.value, description.value);
      status != dnnl_success) {
    return onednn_failed(what, status);
  }
  PENSTOCK_CHECK(dnnl_stream_create(&result.stream_.value, cpu_engine(),
                                    dnnl_stream_default_flags) == dnnl_success,
                 "a CPU stream needs no resources");
  const char* name = "";
  dnnl_primitive_desc_query(description.value, dnnl_query_impl_info_str, 0, &name);
  result.implementation_ = name;
  for (const Argument& argument : arguments)
    result.slots_[result.count_++] = {argument.role, memory_without_data(argument.layout)};
  const dnnl_memory_desc_t* scratch =
      dnnl_primitive_desc_query_md(description.value, dnnl_query_scratchpad_md, 0);
  result.scratch_bytes_ =
      Bytes(scratch == nullptr ? 0 : static_cast<std::int64_t>(dnnl_memory_desc_get_size(scratch)));
  if (result.scratch_bytes_.value > 0) result.scratch_ = memory_without_data(*scratch);
  return result;
}

void Primitive::run(std::initializer_list<const void*> data, std::byte* scratch) const {
  PENSTOCK_CHECK(data.size() == count_, "one pointer for each argument");
  const OneThread one_thread;
  std::array<dnnl_exec_arg_t, kMostArguments + 1> arguments;
  int count = 0;
  // oneDNN's handles are mutable whatever the role.
  const auto bind = [&](int role, const Memory& memory, const void* at) {
    dnnl_memory_set_data_handle(memory.value, const_cast<void*>(at));
    arguments[count++] = {role, memory.value};
  };
  const Slot* slot = slots_.data();
  for (const void* at : data) bind(slot->role, slot->memory, at), ++slot;
  if (scratch_.value != nullptr) bind(DNNL_ARG_SCRATCHPAD, scratch_, scratch);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.value, stream_.value, count, arguments.data());
  PENSTOCK_CHECK(status == dnnl_success, "a prepared primitive runs");
}

}  // namespace penstock::cpu
