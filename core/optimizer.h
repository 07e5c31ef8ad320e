#pragma once

// The update rule of a training step, with its numbers. Step counts from 0, in all of training: a run that is resumed goes on
// counting.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace penstock {

// How a parameter w moves along its gradient g. λ: weight_decay; rate: learning_rate_at(step).
//   Sgd     g ← g + λ·w;  v ← momentum·v + g;  w ← w − rate·v
//   Adam    g ← g + λ·w;  m ← β1·m + (1−β1)·g;  v ← β2·v + (1−β2)·g²;
//           w ← w − rate · m/(1−β1^t) / (√(v/(1−β2^t)) + ε),  t = step + 1             (Kingma & Ba 2015, algorithm 1)
//   AdamW   as Adam with the g that it is given, and w ← w − rate·λ·w first            (Loshchilov & Hutter 2019, algorithm 2)
enum class OptimizerKind : std::uint8_t { Sgd, Adam, AdamW };
constexpr auto enum_names(OptimizerKind) {
  return std::to_array<std::pair<OptimizerKind, std::string_view>>(
      {{OptimizerKind::Sgd, "sgd"}, {OptimizerKind::Adam, "adam"}, {OptimizerKind::AdamW, "adamw"}});
}

enum class DecayKind : std::uint8_t { Constant, Linear, Cosine, Step };
constexpr auto enum_names(DecayKind) {
  return std::to_array<std::pair<DecayKind, std::string_view>>({{DecayKind::Constant, "constant"},
                                                                {DecayKind::Linear, "linear"},
                                                                {DecayKind::Cosine, "cosine"},
                                                                {DecayKind::Step, "step"}});
}

// What the learning rate is multiplied with at a step s. First, for s < warmup, (s+1)/warmup. Then, with t = s − warmup and
// p = min(1, t/(steps − warmup)):
//   Constant  1
//   Linear    1 − (1−final)·p
//   Cosine    final + (1−final)·(1 + cos πp)/2
//   Step      factor^⌊t/every⌋
// E.g. warmup 2, linear, steps 6, final 0: 1/2, 1, 1, 3/4, 1/2, 1/4, 0, 0, …
struct LearningRateSchedule {
  DecayKind kind = DecayKind::Constant;
  std::int64_t warmup = 0;  // steps
  std::int64_t steps = 0;   // linear, cosine: warm-up and decay together
  double final = 0;         // linear, cosine: the fraction that is left in the end
  std::int64_t every = 0;   // step: steps between two cuts
  double factor = 0.1;      // step: what a cut leaves

  bool operator==(const LearningRateSchedule&) const = default;
};

struct Optimizer {
  OptimizerKind kind = OptimizerKind::Sgd;
  double learning_rate = 0.1;
  double momentum = 0.9;               // Sgd
  double beta1 = 0.9, beta2 = 0.999;   // Adam, AdamW
  double epsilon = 1e-8;               // Adam, AdamW
  double weight_decay = 0;
  // The largest norm of all gradients together; beyond it each is multiplied with clip/(norm + 1e-6). 0: not limited.
  double clip = 0;
  LearningRateSchedule schedule;

  // Bytes of optimizer state for each byte of f32 parameter.
  std::int64_t states() const { return kind != OptimizerKind::Sgd ? 2 : momentum != 0 ? 1 : 0; }
  bool adaptive() const { return kind != OptimizerKind::Sgd; }
  bool operator==(const Optimizer&) const = default;
};

// What is meant where only the kind is named: sgd 0.1 with momentum 0.9; adam 1e-3; adamw 1e-3 with weight decay 0.01.
Optimizer default_optimizer(OptimizerKind kind);

// Every number in its range (NaN is in none), and within f32, in which updates are computed, as far as the kind and the schedule's kind read it. Errors carry a JSON pointer
// from the workload.
Result<void> validate(const Optimizer& optimizer);

// Of step s, from 0.
double learning_rate_at(const Optimizer& optimizer, std::int64_t step);

}  // namespace penstock
