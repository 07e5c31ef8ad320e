#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

constexpr int kSamples = 48;  // coordinates a tensor's gradient is checked at
constexpr double kStep =
    1e-4;  // of the central difference: its error is of the order of kStep² and 1e-16 / kStep

std::vector<double> doubles(const Operand& operand) {
  return {operand.floats(), operand.floats() + operand.count()};
}

double largest(const std::vector<double>& values) {
  double result = 1e-30;
  for (double value : values) result = std::max(result, std::abs(value));
  return result;
}

Point point_of(const Harness& harness) {
  Point point;
  for (const Operand& x : harness.inputs) point.inputs.push_back(doubles(x));
  for (const Operand& x : harness.parameters) point.parameters.push_back(doubles(x));
  for (const Operand& x : harness.data) point.data.emplace_back(x.octets(), x.octets() + x.bytes);
  return point;
}

// Indices 0, the last, and others in a fixed pseudo-random sequence.
std::vector<std::int64_t> coordinates(std::int64_t count) {
  std::vector<std::int64_t> chosen;
  if (count <= kSamples) {
    for (std::int64_t i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  std::mt19937 generator(7);
  chosen = {0, count - 1};
  while (chosen.size() < kSamples) chosen.push_back(static_cast<std::int64_t>(generator() % count));
  return chosen;
}

class ReferenceCheck {
 public:
  ReferenceCheck(const Case& description, const Reference& reference, double bound)
      : case_(description), reference_(reference), bound_(bound) {}

  void forward() {
    Harness harness(case_);
    harness.loss = 0.25;
    harness.forward();
    const std::vector<double> want = reference_(case_, point_of(harness));
    const std::vector<double> got =
        case_.layer.is_loss() ? std::vector<double>{harness.loss - 0.25} : doubles(harness.output);
    ASSERT_EQ(got.size(), want.size());
    double error = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      error = std::max(error, std::abs(got[i] - want[i]));
    EXPECT_LE(error / largest(want), bound_) << "forward";
    EXPECT_TRUE(harness.guards_intact());
  }

  void backward(bool accumulate) {
    Harness harness(case_);
    const std::vector<double> weights =
        case_.layer.is_loss() ? std::vector<double>{1.0} : doubles(harness.output_gradient);
    Point point = point_of(harness);
    std::vector<std::vector<double>> input_start, parameter_start;
    for (const Operand& x : harness.input_gradients) input_start.push_back(doubles(x));
    for (const Operand& x : harness.parameter_gradients) parameter_start.push_back(doubles(x));
    harness.forward();
    harness.backward_input(accumulate);
    harness.backward_weight();
    EXPECT_TRUE(harness.guards_intact());
    for (std::size_t i = 0; i < harness.inputs.size(); ++i) {
      if (!accumulate) std::fill(input_start[i].begin(), input_start[i].end(), 0.0);
      compare(point, point.inputs[i], weights, doubles(harness.input_gradients[i]), input_start[i],
              "input");
    }
    for (std::size_t i = 0; i < harness.parameters.size(); ++i) {
      compare(point, point.parameters[i], weights, doubles(harness.parameter_gradients[i]),
              parameter_start[i], "parameter");
    }
  }

 private:
  // d(Σ weights · output) / d variable, at the sampled coordinates.
  void compare(const Point& point, std::vector<double>& variable,
               const std::vector<double>& weights, const std::vector<double>& got,
               const std::vector<double>& start, const char* what) {
    const double scale = largest(got);
    for (std::int64_t i : coordinates(static_cast<std::int64_t>(variable.size()))) {
      const double kept = variable[i];
      variable[i] = kept + kStep;
      const double above = objective(point, weights);
      variable[i] = kept - kStep;
      const double below = objective(point, weights);
      variable[i] = kept;
      const double want = start[i] + (above - below) / (2 * kStep);
      ASSERT_LE(std::abs(got[i] - want) / scale, bound_)
          << what << " gradient at " << i << ": got " << got[i] << ", want " << want;
    }
  }

  double objective(const Point& point, const std::vector<double>& weights) {
    const std::vector<double> output = reference_(case_, point);
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += weights[i] * output[i];
    return sum;
  }

  const Case& case_;
  const Reference& reference_;
  double bound_;
};

}  // namespace

void expect_matches_reference(const Case& description, const Reference& reference, double bound) {
  SCOPED_TRACE(description.text);
  ReferenceCheck check(description, reference, bound);
  check.forward();
  check.backward(false);
  check.backward(true);

  Harness input_first(description), weight_first(description);
  input_first.all();
  weight_first.forward();
  weight_first.backward_weight();
  weight_first.backward_input();
  EXPECT_EQ(input_first.results(), weight_first.results())
      << "the halves of the backward pass do not commute";
}

void expect_matches_reference(const KindCheck& check) {
  for (const Case& c : check.cases) expect_matches_reference(c, check.reference, check.bound);
}

}  // namespace penstock::cpu::testing
