#pragma once

// How an optimizer and its schedule stand in a file (docs/formats/workload.md). A key that the kind does not read is an error.

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "core/archive.h"
#include "core/optimizer.h"

namespace penstock {

// A key that other kinds have and this one has not: written for a reason, and that is not served.
template <class A>
void refuse_keys(A& a, std::initializer_list<std::string_view> keys, std::string_view kind) {
  for (const std::string_view key : keys)
    if (A::kReading && a.has(key))
      a.fail(key, fmt::format("{} means nothing to {}", key, kind), "leave it out");
}

template <class A>
void describe(A& a, LearningRateSchedule& x) {
  a.optional("kind", x.kind);
  const bool falls = x.kind == DecayKind::Linear || x.kind == DecayKind::Cosine;
  if (A::kReading || x.warmup != 0) a.optional("warmup", x.warmup);
  if (falls) {
    a.required("steps", x.steps);
    a.optional("final", x.final);
  } else {
    refuse_keys(a, {"steps", "final"}, enum_text(x.kind));
  }
  if (x.kind == DecayKind::Step) {
    a.required("every", x.every);
    a.optional("factor", x.factor);
  } else {
    refuse_keys(a, {"every", "factor"}, enum_text(x.kind));
  }
}

template <class A>
void describe(A& a, Optimizer& x) {
  a.optional("kind", x.kind);
  if constexpr (A::kReading) x = default_optimizer(x.kind);
  a.optional("learning_rate", x.learning_rate);
  if (x.adaptive()) {
    a.optional("beta1", x.beta1);
    a.optional("beta2", x.beta2);
    a.optional("epsilon", x.epsilon);
    refuse_keys(a, {"momentum"}, enum_text(x.kind));
  } else {
    a.optional("momentum", x.momentum);
    refuse_keys(a, {"beta1", "beta2", "epsilon"}, enum_text(x.kind));
  }
  const double usual = default_optimizer(x.kind).weight_decay;
  if (A::kReading || x.weight_decay != usual) a.optional("weight_decay", x.weight_decay);
  if (A::kReading || x.clip != 0) a.optional("clip", x.clip);
  if (A::kReading || x.schedule != LearningRateSchedule{}) a.optional("schedule", x.schedule);
}

}  // namespace penstock
