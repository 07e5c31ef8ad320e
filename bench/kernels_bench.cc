// How fast one core convolves, beside the matrix products of the same run.
//
//   conv2d/PASS/NxCxHxW/K/kernel   the passes of Conv2d on plain tensors, its copies to and from
//                                  blocked layouts and the addition of its gradients included
//   layer/KIND/PASS/NxCxHxW        what stands between convolutions; items are elements of the input
//
// Counters: "GFLOP/s" of the fastest iteration by the thread's CPU time, and "of_matmul", its ratio
// to the fastest of the products 512 x 512 x 512 that alternate with the iterations.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/footprint.h"
#include "exec/cpu/layer_kernel.h"
#include "exec/cpu/math/matmul.h"

namespace penstock::cpu {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Memory at a 64-byte boundary, of small values.
class Buffer {
 public:
  explicit Buffer(Bytes size)
      : at_(static_cast<float*>(std::aligned_alloc(
                64, static_cast<std::size_t>(align_up(size + Bytes(1), 64).value))),
            std::free) {
    for (std::int64_t i = 0; i < size.value / 4; ++i)
      at_.get()[i] = 0.01f * static_cast<float>(i % 17 - 8);
  }
  float* floats() const { return at_.get(); }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(at_.get()); }

 private:
  std::unique_ptr<float, void (*)(void*)> at_;
};

// The yardstick.
class Product {
 public:
  static constexpr std::int64_t kSide = 512;
  static constexpr double kOperations = 2.0 * kSide * kSide * kSide;

  Product()
      : product_(prepare()),
        a_(Bytes(kSide * kSide * 4)),
        b_(Bytes(kSide * kSide * 4)),
        c_(Bytes(kSide * kSide * 4)),
        scratch_(product_.scratch_bytes()) {}
  void run() const {
    product_.run(a_.floats(), b_.floats(), nullptr, c_.floats(), scratch_.bytes());
  }

 private:
  static Matmul prepare() {
    auto made = Matmul::prepare({.rows = kSide,
                                 .columns = kSide,
                                 .inner = kSide,
                                 .a = row_major(kSide),
                                 .b = row_major(kSide),
                                 .c = row_major(kSide)});
    PENSTOCK_CHECK(made.has_value(), "oneDNN multiplies matrices");
    return std::move(*made);
  }

  Matmul product_;
  Buffer a_, b_, c_, scratch_;
};

enum class Pass { Forward, Input, Weight };

// A layer with one input and all its operands.
class Subject {
 public:
  Subject(Layer layer, TensorShape input, std::int64_t samples)
      : layer_(std::move(layer)),
        kernel_(make(layer_, input, samples)),
        x_(Bytes(samples * input.bytes().value)),
        dx_(Bytes(samples * input.bytes().value)),
        y_(Bytes(samples * layer_.output.bytes().value)),
        dy_(Bytes(samples * layer_.output.bytes().value)),
        saved_(backward_needs(layer_, {&input, 1}, samples).saved),
        workspace_(kernel_->workspace_bytes()) {
    for (const Parameter& p : layer_.parameters) {
      buffers_.emplace_back(Bytes(4 * p.elements()));
      parameters_.push_back(buffers_.back().floats());
      buffers_.emplace_back(Bytes(4 * p.elements()));
      gradients_.push_back(buffers_.back().floats());
    }
    inputs_ = {x_.floats()};
    input_gradients_ = {dx_.floats()};
    run(Pass::Forward);  // what is saved must be there
  }

  void run(Pass pass) {
    const LayerOperands at{.inputs = inputs_,
                           .output = y_.floats(),
                           .saved = saved_.floats(),
                           .parameters = parameters_,
                           .output_gradient = dy_.floats(),
                           .input_gradients = input_gradients_,
                           .parameter_gradients = gradients_,
                           .workspace = workspace_.bytes()};
    switch (pass) {
      case Pass::Forward: return kernel_->forward(at);
      case Pass::Input: return kernel_->backward_input(at);
      case Pass::Weight: return kernel_->backward_weight(at);
    }
  }

 private:
  static std::unique_ptr<LayerKernel> make(const Layer& layer, const TensorShape& input,
                                           std::int64_t samples) {
    auto made = make_kernel(layer, {&input, 1}, samples, samples);
    PENSTOCK_CHECK(made.has_value(), "the layers of this program are valid");
    return std::move(*made);
  }

  Layer layer_;
  std::unique_ptr<LayerKernel> kernel_;
  Buffer x_, dx_, y_, dy_, saved_, workspace_;
  std::vector<Buffer> buffers_;
  std::vector<const float*> inputs_;
  std::vector<float*> parameters_, gradients_, input_gradients_;
};

struct Shape {
  std::int64_t samples, channels, side, outputs, kernel, stride, padding;
};

Subject convolution(const Shape& s) {
  const std::int64_t side = (s.side + 2 * s.padding - s.kernel) / s.stride + 1;
  Layer layer{.name = "conv",
              .kind = LayerKind::Conv2d,
              .attributes = {{"kernel", s.kernel}, {"stride", s.stride}, {"padding", s.padding}},
              .inputs = {LayerId(0)},
              .output = {DataType::F32, {s.outputs, side, side}}};
  layer.parameters = {{.name = "weight", .dimensions = {s.outputs, s.channels, s.kernel, s.kernel}}};
  return Subject(std::move(layer), {DataType::F32, {s.channels, s.side, s.side}}, s.samples);
}

void conv2d(benchmark::State& state, const Shape& s, Pass pass) {
  const Product product;
  Subject subject = convolution(s);
  const std::int64_t side = (s.side + 2 * s.padding - s.kernel) / s.stride + 1;
  const double operations = 2.0 * static_cast<double>(s.samples * s.outputs * side * side *
                                                      s.channels * s.kernel * s.kernel);
  double best = 1e9, best_product = 1e9;
  for (auto _ : state) {
    const double start = thread_seconds();
    subject.run(pass);
    const double middle = thread_seconds();
    product.run();
    best_product = std::min(best_product, thread_seconds() - middle);
    best = std::min(best, middle - start);
    state.SetIterationTime(middle - start);
  }
  const double rate = operations / best, yardstick = Product::kOperations / best_product;
  state.counters["GFLOP/s"] = rate * 1e-9;
  state.counters["of_matmul"] = rate / yardstick;
}

Subject between(LayerKind kind, const Shape& s) {
  Layer layer{.name = "between",
              .kind = kind,
              .inputs = {LayerId(0)},
              .output = {DataType::F32, {s.channels, s.side, s.side}}};
  if (kind == LayerKind::BatchNorm) {
    for (const char* name : {"gain", "bias", "mean", "variance"})
      layer.parameters.push_back({.name = name, .dimensions = {s.channels}});
  }
  if (kind == LayerKind::MaxPool) {
    layer.attributes = {{"kernel", s.kernel}, {"stride", s.stride}, {"padding", s.padding}};
    const std::int64_t side = (s.side + 2 * s.padding - s.kernel) / s.stride + 1;
    layer.output.dimensions = {s.channels, side, side};
  }
  return Subject(std::move(layer), {DataType::F32, {s.channels, s.side, s.side}}, s.samples);
}

void other(benchmark::State& state, LayerKind kind, const Shape& s, Pass pass) {
  Subject subject = between(kind, s);
  for (auto _ : state) {
    const double start = thread_seconds();
    subject.run(pass);
    state.SetIterationTime(thread_seconds() - start);
  }
  state.SetItemsProcessed(state.iterations() * s.samples * s.channels * s.side * s.side);
}

void add(const std::string& name, auto run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  const std::pair<const char*, Pass> passes[] = {
      {"forward", Pass::Forward}, {"input", Pass::Input}, {"weight", Pass::Weight}};
  const auto text = [](const Shape& s) {
    return std::to_string(s.samples) + 'x' + std::to_string(s.channels) + 'x' +
           std::to_string(s.side) + 'x' + std::to_string(s.side);
  };
  for (const Shape& s : {Shape{4, 64, 56, 64, 3, 1, 1}, Shape{4, 256, 14, 256, 3, 1, 1},
                         Shape{4, 512, 7, 512, 3, 1, 1}, Shape{8, 64, 56, 256, 1, 1, 0},
                         Shape{4, 256, 56, 512, 1, 2, 0}, Shape{4, 3, 224, 64, 7, 2, 3}}) {
    for (const auto& [name, pass] : passes) {
      if (s.channels == 3 && pass == Pass::Input) continue;  // data have no gradient
      const Pass which = pass;
      add("conv2d/" + std::string(name) + '/' + text(s) + '/' + std::to_string(s.outputs) + '/' +
              std::to_string(s.kernel),
          [s, which](benchmark::State& state) { conv2d(state, s, which); });
    }
  }
  const Shape large{4, 64, 56, 64, 1, 1, 0}, pooled{4, 64, 112, 64, 3, 2, 1};
  for (const auto& [kind, kind_name] : {std::pair(LayerKind::BatchNorm, "batch_norm"),
                                        std::pair(LayerKind::Relu, "relu"),
                                        std::pair(LayerKind::MaxPool, "max_pool")}) {
    const Shape s = kind == LayerKind::MaxPool ? pooled : large;
    for (const auto& [name, pass] : passes) {
      if (pass == Pass::Weight && kind != LayerKind::BatchNorm) continue;
      const LayerKind what = kind;
      const Pass which = pass;
      add("layer/" + std::string(kind_name) + '/' + name + '/' + text(s),
          [s, what, which](benchmark::State& state) { other(state, what, s, which); });
    }
  }
}

}  // namespace
}  // namespace penstock::cpu

int main(int argc, char** argv) {
  penstock::cpu::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
