#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "exec/cpu/cpu_device.h"
#include "exec/cpu/layer_kernel.h"
#include "exec/cpu/math/matmul.h"
#include "exec/cpu/processor.h"
#include "profiler/profiler.h"
#include "profiler/robust_stats.h"

// Each class of work (core/contention.h) is done in rounds by one core, alone and while a second core repeats another class.
// The two ways take turns, so that a machine whose speed drifts slows both; medians over all turns. A round's time is that of
// its thread, stalls for memory included: what else runs on the machine may take turns with it without being counted.

namespace penstock {
namespace {

constexpr int kTurns = 4;
constexpr int kRounds = 8;          // of each turn, beyond one to warm up
constexpr std::size_t kTensors = 16;  // that rounds go through, so that none is still in a cache
constexpr std::int64_t kTensorFloats = std::int64_t{1} << 20;
constexpr int kAdditions = 3, kCopies = 4;  // of tensors, in a round
constexpr std::int64_t kSide = 512;  // of matrices: 2 · 512³ operations
constexpr double kNoise = 0.02;      // slowdowns below are none

Nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return Nanoseconds(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

Bytes second_level_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return Bytes(std::max<std::int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE)));
#else
  return Bytes(0);
#endif
}

// The kernels of all three classes, and memory for one core to do them in.
class Worker {
 public:
  static Result<std::unique_ptr<Worker>> make(int core) {
    auto worker = std::make_unique<Worker>(core);
    PENSTOCK_TRY_VOID(worker->build());
    return worker;
  }
  explicit Worker(int core) : device_(std::make_shared<cpu::RunState>(), core) {}

  // One round: some milliseconds of work.
  void round(WorkClass work) {
    switch (work) {
      case WorkClass::Matrix:
        return product_->run(tensor(), tensor(), nullptr, tensor(), scratch_);
      case WorkClass::Memory: {
        for (int i = 0; i < kAdditions; ++i) {
          const std::array<const float*, 2> inputs = {tensor(), tensor()};
          add_->forward({.inputs = inputs, .output = tensor()});
        }
        return;
      }
      case WorkClass::Copy:
        for (int i = 0; i < kCopies; ++i)
          std::memcpy(tensor(), tensor(), static_cast<std::size_t>(kTensorFloats) * sizeof(float));
    }
  }
  // What a round moves, as models/costs/bytes.h counts.
  static Bytes moved(WorkClass work) {
    switch (work) {
      case WorkClass::Matrix:
        return Bytes(3 * kSide * kSide * 4);
      case WorkClass::Memory:
        return Bytes(kAdditions * 3 * kTensorFloats * 4);
      case WorkClass::Copy:
        return Bytes(kCopies * 2 * kTensorFloats * 4);
    }
    return {};
  }
  // The same on this worker's core, timed; returns when done.
  Result<std::vector<Nanoseconds>> time(WorkClass work) {
    Rounds call(*this, work, nullptr);
    for (int i = 0; i <= kRounds; ++i) device_.launch(stream_, call, WorkTag{}, nullptr);
    PENSTOCK_TRY_VOID(device_.synchronize());
    return std::vector(call.times.begin() + 1, call.times.end());
  }
  // Rounds of `work` from now on, until stop().
  void start(WorkClass work) {
    running_ = true;
    is_under_way_ = false;
    endless_ = std::make_unique<Rounds>(*this, work, &running_);
    device_.launch(stream_, *endless_, WorkTag{}, nullptr);
    while (!is_under_way_) usleep(50);
  }
  Result<void> stop() {
    running_ = false;
    return device_.synchronize();
  }

 private:
  class Rounds final : public cpu::Call {
   public:
    Rounds(Worker& worker, WorkClass work, const std::atomic<bool>* until)
        : worker_(worker), work_(work), until_(until) {}
    Result<void> run(std::int32_t) override {
      const Nanoseconds start = thread_time();
      worker_.round(work_);
      times.push_back(thread_time() - start);
      worker_.is_under_way_ = true;
      while (until_ != nullptr && *until_) worker_.round(work_);
      return {};
    }
    std::vector<Nanoseconds> times;  // of the first round of each run

   private:
    Worker& worker_;
    WorkClass work_;
    const std::atomic<bool>* until_;  // null: one round
  };

  Result<void> build() {
    PENSTOCK_TRY(cpu::Matmul product, cpu::Matmul::prepare({.rows = kSide,
                                                            .columns = kSide,
                                                            .inner = kSide,
                                                            .a = cpu::row_major(kSide),
                                                            .b = cpu::row_major(kSide),
                                                            .c = cpu::row_major(kSide)}));
    product_ = std::make_unique<cpu::Matmul>(std::move(product));
    const TensorShape shape{DataType::F32, {kTensorFloats}};
    const std::array<TensorShape, 2> inputs = {shape, shape};
    const Layer layer{.name = "add",
                      .kind = LayerKind::Add,
                      .inputs = {LayerId(0), LayerId(1)},
                      .output = shape};
    PENSTOCK_TRY(add_, cpu::make_kernel(layer, inputs, 1, 1));
    const Bytes tensors(static_cast<std::int64_t>(kTensors) * kTensorFloats * 4);
    PENSTOCK_TRY(arena_, device_.allocate(tensors + product_->scratch_bytes()));
    scratch_ = arena_ + tensors.value;
    stream_ = device_.create_stream("profile", StreamRole::Compute);
    return {};
  }
  float* tensor() {
    next_ = (next_ + 1) % kTensors;
    return reinterpret_cast<float*>(arena_) + static_cast<std::int64_t>(next_) * kTensorFloats;
  }

  cpu::CpuDevice device_;
  std::byte *arena_ = nullptr, *scratch_ = nullptr;
  StreamHandle stream_;
  std::size_t next_ = 0;
  std::unique_ptr<cpu::Matmul> product_;
  std::unique_ptr<cpu::LayerKernel> add_;
  std::atomic<bool> running_{false}, is_under_way_{false};
  std::unique_ptr<Rounds> endless_;
};

}  // namespace

Result<void> profile_contention(const ProfileRequest& request, Profile& profile) {
  profile.private_cache = second_level_cache();
  const std::vector<int> cores = cpu::cores();
  if (cores.size() < 2) return {};
  PENSTOCK_TRY(const std::unique_ptr<Worker> one, Worker::make(cores[0]));
  PENSTOCK_TRY(const std::unique_ptr<Worker> other, Worker::make(cores[1]));
  for (const auto& [work, work_name] : enum_names(WorkClass{}))
    for (const auto& [beside, beside_name] : enum_names(WorkClass{})) {
      std::vector<Nanoseconds> alone, together;
      for (int turn = 0; turn < kTurns; ++turn) {
        if (request.stop.stop_requested()) return fail(ErrorCode::Interrupted, "profiling was stopped");
        PENSTOCK_TRY(const std::vector<Nanoseconds> by_itself, one->time(work));
        other->start(beside);
        auto both = one->time(work);
        PENSTOCK_TRY_VOID(other->stop());
        if (!both) return fail(both.error());
        alone.insert(alone.end(), by_itself.begin(), by_itself.end());
        together.insert(together.end(), both->begin(), both->end());
      }
      ContentionTime row{.work = work, .beside = beside, .moved = Worker::moved(work), .alone = spread(std::move(alone)), .time = spread(std::move(together))};
      const double ratio = seconds(row.time.median) / seconds(row.alone.median);
      row.slowdown = ratio < 1 + kNoise ? 1 : std::min(ratio, kMostSlowdown);
      profile.contention.push_back(row);
    }
  return {};
}

}  // namespace penstock
