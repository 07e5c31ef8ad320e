#include "exec/evaluator.h"

#include "core/random.h"

namespace penstock {

Result<std::unique_ptr<Evaluator>> Evaluator::make(const Plan& plan, const EvaluationOptions& options, std::uint64_t seed,
                                                   std::unique_ptr<RankDevice> device) {
  std::unique_ptr<Evaluator> out(new Evaluator(plan, options.batches, std::move(device)));
  PENSTOCK_TRY(out->data_, DataSource::open(options.data, plan.workload, combine(seed, hash("evaluation")), true));
  out->losses_.assign(static_cast<std::size_t>(options.batches * plan.microbatches), 0.0);
  out->all_ = all_parameters(plan.workload);
  out->stream_ = out->device_->create_stream("evaluation", StreamRole::Compute);
  PENSTOCK_TRY(out->network_, WholeNetwork::make(plan.workload, out->data_, *out->device_,
                                                 {.microbatch_size = plan.microbatch_size, .microbatches = plan.microbatches,
                                                  .seed = seed, .training = false, .losses = out->losses_.data(), .hits = &out->hits_}));
  return out;
}

Result<double> Evaluator::loss(const ParameterAccess& parameters, const std::stop_token& stop) {
  std::vector<float> values;
  for (std::size_t p = 0; p < all_.size(); ++p) {
    values.resize(static_cast<std::size_t>(all_[p]->elements()));
    parameters.read(p, -1, values);
    network_->write(p, -1, values);
  }
  Stage& stage = network_->stage();
  const StageMemoryMap& memory = network_->memory(0);
  double sum = 0;
  hits_ = {};
  for (std::int32_t batch = 0; batch < batches_; ++batch) {
    for (std::int32_t m = 0; m < plan_.microbatches; ++m) {
      if (stop.stop_requested()) return fail(ErrorCode::Interrupted, "the evaluation was stopped");
      const auto load = stage.load(memory, m), forward = stage.forward(memory, m), loss = stage.loss(memory, m);
      for (StageCall* call : {load.get(), forward.get(), loss.get()}) {
        device_->launch(stream_, *call, WorkTag{.instruction = 0, .step = batch}, nullptr);
      }
      PENSTOCK_TRY_VOID(device_->synchronize());
      sum += losses_[static_cast<std::size_t>(batch * plan_.microbatches + m)];
    }
  }
  return sum / static_cast<double>(batches_);
}

std::optional<double> Evaluator::accuracy() const {
  if (hits_.rows == 0) return std::nullopt;
  return static_cast<double>(hits_.right) / static_cast<double>(hits_.rows);
}

}  // namespace penstock
