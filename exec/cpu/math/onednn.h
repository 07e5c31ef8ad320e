#pragma once

// What users of oneDNN (2.6, the v2 C interface) share: its engine, the thread count it sees, who
// frees its objects, and a primitive prepared once and run many times on raw pointers. For
// exec/cpu/math/*.cc alone: their headers name no type of oneDNN.
//
// Order: one thread, so the order of every sum depends on the shape, on the instruction set and on
//   the sizes of the caches that oneDNN blocks for; not on addresses. Its arithmetic is held at
//   strict f32 whatever the environment asks for.
// Memory: scratch comes from the caller and we allocate nothing. oneDNN itself allocates a few
//   nodes (< 256 bytes each) for its tables of arguments in every run: one run's and, where a layout
//   is padded, that of clearing the padding.

#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cpu {

// While it lives, OpenMP has one thread. The count belongs to the calling thread, so holding it here
// disturbs no one else. A few nanoseconds.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// Describes the CPU and holds no state: one for the process, for as long as it lives.
dnnl_engine_t cpu_engine();

// Frees what the C interface hands out.
template <class T, dnnl_status_t (*destroy)(T)>
struct Owned {
  T value = nullptr;

  Owned() = default;
  Owned(Owned&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Owned() {
    if (value != nullptr) destroy(value);
  }
};
using Attributes = Owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Owned<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using Description = Owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;

// Scratch from the caller, strict f32.
Attributes plain_attributes();

class Primitive {
 public:
  struct Argument {
    int role = 0;  // DNNL_ARG_…
    dnnl_memory_desc_t layout;
  };
  static constexpr std::size_t kMostArguments = 4;

  // Costs milliseconds (code generation). Unavailable, in words about `what`, if oneDNN fails.
  static Result<Primitive> prepare(const Description& description,
                                   std::initializer_list<Argument> arguments,
                                   const std::string& what);

  // `data`: one pointer an argument, in the order of prepare(); what the role only reads stays as it
  // is. `scratch` has scratch_bytes() at a 64-byte boundary. One thread at a time.
  void run(std::initializer_list<const void*> data, std::byte* scratch) const;

  Bytes scratch_bytes() const { return scratch_bytes_; }
  const std::string& implementation() const { return implementation_; }

 private:
  using Memory = Owned<dnnl_memory_t, dnnl_memory_destroy>;
  struct Slot {
    int role = 0;
    Memory memory;  // a description whose data pointer each run sets
  };

  Owned<dnnl_stream_t, dnnl_stream_destroy> stream_;
  Owned<dnnl_primitive_t, dnnl_primitive_destroy> primitive_;
  std::array<Slot, kMostArguments> slots_;
  std::size_t count_ = 0;
  Memory scratch_;
  Bytes scratch_bytes_;
  std::string implementation_;
};

tl::unexpected<Error> onednn_failed(const std::string& what, dnnl_status_t status);

}  // namespace penstock::cpu
