#pragma once

// The loss on held-out data: forward passes on one device, with evaluation behaviour (running statistics), in the plan's
// microbatches. The same samples each time, a function of (seed, batch, sample) that training never draws.

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "exec/device.h"
#include "exec/data_source.h"
#include "exec/parameters.h"
#include "exec/run.h"
#include "exec/whole_network.h"

namespace penstock {

class Evaluator {
 public:
  // `plan` outlives it; the passes run on `device`, of any backend. Errors as DataSource::open has them.
  static Result<std::unique_ptr<Evaluator>> make(const Plan& plan, const EvaluationOptions& options, std::uint64_t seed,
                                                 std::unique_ptr<RankDevice> device);

  std::int64_t images() const { return data_.images(); }  // held out; 0 of a text

  // With the weights that `parameters` hold. RunFailed if the loss is not finite; Interrupted once `stop` is asked for.
  Result<double> loss(const ParameterAccess& parameters, const std::stop_token& stop = {});

  // Of that pass: the share of rows whose class has the largest logit. Nothing where no loss is over classes.
  std::optional<double> accuracy() const;

 private:
  Evaluator(const Plan& plan, std::int64_t batches, std::unique_ptr<RankDevice> device)
      : plan_(plan), batches_(batches), device_(std::move(device)) {}

  const Plan& plan_;
  std::int64_t batches_;
  DataSource data_;
  std::vector<double> losses_;  // [batch][microbatch]
  Hits hits_;
  std::vector<const Parameter*> all_;
  std::unique_ptr<RankDevice> device_;
  StreamHandle stream_;
  std::unique_ptr<WholeNetwork> network_;
};

}  // namespace penstock
