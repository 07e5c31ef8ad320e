#pragma once

// What the tests of the checker share.

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "core/program_check.h"
#include "tests/core/sample_program.h"

namespace penstock::test {

// Whether a violation of `rule` whose message holds `words` is among them; if not, says which are.
inline testing::AssertionResult refuses(const std::vector<Violation>& violations, std::string_view rule, std::string_view words) {
  for (const Violation& violation : violations)
    if (violation.rule == rule && violation.message.find(words) != std::string::npos) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure() << "no " << rule << " with '" << words << "' among:";
  for (const Violation& violation : violations) failure << "\n  " << violation.rule << ": " << violation.message;
  return failure;
}
inline testing::AssertionResult refuses(const Program& program, std::string_view rule, std::string_view words) {
  return refuses(check(program), rule, words);
}

// Likewise of 1F1B on two ranks, three microbatches, once it is damaged.
inline testing::AssertionResult is_refused(const std::function<void(Program&)>& damage, std::string_view rule,
                                           std::string_view words) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  damage(program);
  return refuses(program, rule, words);
}

inline std::vector<Instruction>& compute(Program& program, std::size_t rank) { return program.ranks[rank].streams[0].body; }

// Position in a rank's compute stream.
inline std::size_t position(Program& program, std::size_t rank, Op op, std::int32_t microbatch, std::int32_t target = -1) {
  const std::vector<Instruction>& body = compute(program, rank);
  for (std::size_t i = 0; i < body.size(); ++i)
    if (body[i].key.op == op && body[i].key.microbatch == microbatch && (target < 0 || body[i].target == target)) return i;
  ADD_FAILURE() << "no such instruction";
  return 0;
}
inline Instruction& find(Program& program, std::size_t rank, Op op, std::int32_t microbatch, std::int32_t target = -1) {
  return compute(program, rank)[position(program, rank, op, microbatch, target)];
}

// Does nothing: takes the place of an instruction so that the positions of the others stay.
inline Instruction nothing() { return Instruction{.key = {.op = Op::Wait}}; }

}  // namespace penstock::test
