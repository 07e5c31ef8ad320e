#include "exec/whole_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/cpu/cpu_device.h"
#include "exec/data_source.h"
#include "models/workloads/builders.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

// The loss of one microbatch, and its gradient, as the executor computes them.
class OneMicrobatch {
 public:
  explicit OneMicrobatch(const std::string& name)
      : workload_(*build_workload(name)), data_(*DataSource::open(test::sample_text(), workload_, 3)),
        device_(std::make_shared<cpu::RunState>(), -1) {
    network_ = *WholeNetwork::make(workload_, data_, device_,
                                   {.microbatch_size = workload_.global_batch, .seed = 3, .losses = &loss_});
    stream_ = device_.create_stream("test", StreamRole::Compute);
    const auto& m = network_->memory(0);
    perform(*network_->stage().load(m, 0));
  }
  double loss() {
    perform(*network_->stage().forward(network_->memory(0), 0));
    perform(*network_->stage().loss(network_->memory(0), 0));
    return loss_;
  }
  void backward() { perform(*network_->stage().backward(network_->memory(0), 0)); }
  float* weights() { return reinterpret_cast<float*>(network_->memory(0).weights); }
  const float* gradients() { return reinterpret_cast<const float*>(network_->memory(0).gradients); }
  const Network& network() const { return workload_.networks[0]; }

 private:
  void perform(StageCall& call) {
    device_.launch(stream_, call, {}, nullptr);
    ASSERT_TRUE(device_.synchronize());
  }

  Workload workload_;
  DataSource data_;
  cpu::CpuDevice device_;
  std::unique_ptr<WholeNetwork> network_;
  StreamHandle stream_;
  double loss_ = 0;
};

void expect_gradient_is_the_slope(const std::string& name) {
  OneMicrobatch run(name);
  run.loss();
  run.backward();
  std::vector<LayerId> layers;
  for (std::size_t l = 0; l < run.network().layers.size(); ++l) layers.push_back(LayerId(static_cast<std::int64_t>(l)));
  const std::vector<Bytes> offsets = parameter_offsets(run.network(), layers);
  std::size_t next = 0;
  for (const Layer& layer : run.network().layers) {
    for (const Parameter& parameter : layer.parameters) {
      const std::int64_t offset = offsets[next++].value / 4;
      // Along the gradient itself, where the change of the loss stands out of the rounding: slope = |g|².
      double square = 0;
      for (std::int64_t e = 0; e < parameter.elements(); ++e) square += std::pow(run.gradients()[offset + e], 2);
      if (square < 1e-12) continue;
      const std::vector<float> before(run.weights() + offset, run.weights() + offset + parameter.elements());
      const double h = 2e-3 / std::sqrt(square);
      const auto shifted = [&](double by) {
        for (std::int64_t e = 0; e < parameter.elements(); ++e) {
          run.weights()[offset + e] = before[static_cast<std::size_t>(e)] + static_cast<float>(by * run.gradients()[offset + e]);
        }
        return run.loss();
      };
      const double slope = (shifted(h) - shifted(-h)) / (2 * h);
      shifted(0);
      EXPECT_NEAR(slope / square, 1.0, 0.03) << parameter.name;
    }
  }
}

TEST(WholeNetwork, GradientsOfTheTransformerAreTheSlopesOfItsLoss) {
  expect_gradient_is_the_slope("gpt:layers=2,hidden=32,heads=2,sequence=16,batch=4");
}

TEST(WholeNetwork, GradientsOfTheMlpAreTheSlopesOfItsLoss) { expect_gradient_is_the_slope("mlp:layers=3,width=32,batch=4"); }

TEST(WholeNetwork, TheFirstLossOfAnUntrainedTransformerIsNearTheLogarithmOfTheVocabulary) {
  OneMicrobatch run("gpt:layers=2,hidden=32,heads=2,sequence=16,batch=4");
  EXPECT_NEAR(run.loss(), std::log(256.0), 0.2);
}

// One backward, the norms as asked for, one update by plain SGD: how much of the step that is not clipped each weight makes.
struct ClippedStep {
  std::vector<LayerStamps> stamps;
  double moved = 0;  // Σ |w' − w|
};
ClippedStep clipped_step(double norm) {
  Workload workload = *build_workload("mlp:layers=3,width=32,batch=4");
  workload.optimizer = Optimizer{};
  workload.optimizer.momentum = 0;
  workload.optimizer.clip = 1000;  // far above the gradients' own
  const DataSource data = DataSource::random_text(workload, 3);
  cpu::CpuDevice device(std::make_shared<cpu::RunState>(), -1);
  ClippedStep out;
  out.stamps.resize(workload.networks[0].layers.size());
  double loss = 0;
  const auto network = *WholeNetwork::make(workload, data, device,
                                           {.microbatch_size = 4, .seed = 3, .losses = &loss, .layer_stamps = out.stamps.data()});
  const StreamHandle stream = device.create_stream("test", StreamRole::Compute);
  Stage& stage = network->stage();
  const StageMemoryMap& memory = network->memory(0);
  const auto perform = [&](std::unique_ptr<StageCall> call) {
    device.launch(stream, *call, {}, nullptr);
    EXPECT_TRUE(device.synchronize());
  };
  perform(stage.load(memory, 0));
  perform(stage.forward(memory, 0));
  perform(stage.loss(memory, 0));
  perform(stage.backward(memory, 0));
  perform(stage.squared_norms(memory));
  if (norm > 0) network->write_norm(norm);
  const auto* weights = reinterpret_cast<const float*>(memory.weights);
  const std::size_t count = static_cast<std::size_t>(memory.gradients - memory.weights) / sizeof(float);
  const std::vector<float> before(weights, weights + count);
  perform(stage.update(memory));
  for (std::size_t i = 0; i < count; ++i) out.moved += std::abs(static_cast<double>(weights[i]) - before[i]);
  return out;
}

TEST(WholeNetwork, ANormThatIsWrittenClipsTheNextUpdateWhateverTheGradients) {
  const ClippedStep own = clipped_step(0), half = clipped_step(2000), tenth = clipped_step(10'000);
  ASSERT_GT(own.moved, 0);
  EXPECT_NEAR(half.moved / own.moved, 0.5, 1e-2);
  EXPECT_NEAR(tenth.moved / own.moved, 0.1, 1e-2);
}

TEST(WholeNetwork, SquaresAndUpdatesOfEachLayerAreTimed) {
  const ClippedStep step = clipped_step(0);
  Nanoseconds last;
  for (std::size_t l = 0; l < step.stamps.size(); ++l) {
    const LayerStamps& layer = step.stamps[l];
    EXPECT_LE(layer.squared_norms.start, layer.squared_norms.end);
    EXPECT_LE(last, layer.squared_norms.start) << "in order of layers";
    last = layer.squared_norms.end;
    EXPECT_LE(last, layer.update.start) << "before any update";
    EXPECT_GT(layer.squared_norms.start, Nanoseconds(0));
  }
}

}  // namespace
}  // namespace penstock
