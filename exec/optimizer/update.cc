#include "exec/optimizer/update.h"

#include "exec/optimizer/gradient_norm.h"
#include "exec/optimizer/statistic.h"

namespace penstock {

UpdateRule::UpdateRule(const Optimizer& optimizer, std::int64_t step, std::int64_t microbatches, float factor)
    : kind_(optimizer.kind), statistic_decay_(statistic_decay(microbatches)), factor_(factor) {
  if (optimizer.adaptive()) {
    adam_ = AdamStep::of(optimizer, step);
  } else {
    sgd_ = {.learning_rate = static_cast<float>(learning_rate_at(optimizer, step)),
            .momentum = static_cast<float>(optimizer.momentum),
            .weight_decay = static_cast<float>(optimizer.weight_decay)};
  }
}

void UpdateRule::apply(const Parameter& parameter, float* weights, float* gradient, float* first, float* second) const {
  const auto elements = static_cast<std::size_t>(parameter.elements());
  if (parameter.role == ParameterRole::Statistic) return update_statistic(statistic_decay_, elements, weights, gradient);
  scale_gradient(factor_, elements, gradient);
  if (kind_ == OptimizerKind::Sgd) return sgd(sgd_, elements, weights, gradient, first);
  adam(adam_, elements, weights, gradient, first, second);
}

}  // namespace penstock
