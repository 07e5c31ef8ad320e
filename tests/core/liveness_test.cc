#include "core/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

// Everything that is certainly over when an instruction is: the transitive closure of streams,
// `after` and messages (a SEND is over when its RECV is), computed as plainly as possible.
// Instructions are (rank, stream, index) of the bodies.
class HappensBefore {
 public:
  using Place = std::array<std::size_t, 3>;

  explicit HappensBefore(const Program& program) : program_(program) {
    std::map<std::int32_t, std::array<std::vector<Place>, 2>> ends;
    each([&](const Place& place, const Instruction& instruction) {
      if (is_transfer(instruction.key.op))
        ends[instruction.target][instruction.key.op == Op::Recv].push_back(place);
    });
    for (const auto& [edge, pair] : ends)
      for (std::size_t k = 0; k < pair[0].size(); ++k)
        partner_[pair[0][k]] = pair[1][k], partner_[pair[1][k]] = pair[0][k];
  }

  // Whether `earlier` is over whenever `later` is.
  bool over(const Place& earlier, const Place& later) {
    if (closure_.find(later) == closure_.end()) {
      std::set<Place>& seen = closure_[later];
      std::vector<Place> stack = {later};
      while (!stack.empty()) {
        const Place at = stack.back();
        stack.pop_back();
        if (!seen.insert(at).second) continue;
        const Instruction& instruction = program_.ranks[at[0]].streams[at[1]].body[at[2]];
        if (at[2] > 0) stack.push_back({at[0], at[1], at[2] - 1});
        if (instruction.after_stream >= 0)
          stack.push_back(
              {at[0], static_cast<std::size_t>(instruction.after_stream), instruction.after_index});
        // Both ends of a message are over together.
        if (is_transfer(instruction.key.op)) stack.push_back(partner_.at(at));
      }
    }
    return closure_[later].count(earlier) != 0;
  }

  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t r = 0; r < program_.ranks.size(); ++r)
      for (std::size_t s = 0; s < program_.ranks[r].streams.size(); ++s)
        for (std::size_t i = 0; i < program_.ranks[r].streams[s].body.size(); ++i)
          visit({r, s, i}, program_.ranks[r].streams[s].body[i]);
  }

 private:
  const Program& program_;
  std::map<Place, Place> partner_;
  std::map<Place, std::set<Place>> closure_;
};

TEST(Receipts, AreWhatTheOrderOfEventsProves) {
  for (const std::int32_t p : {2, 3, 4}) {
    for (const std::int32_t m : {1, 2, 5, 7}) {
      for (const bool gpipe : {false, true}) {
        const Program program = sample_program(gpipe ? gpipe_order(p, m) : one_f_one_b_order(p, m));
        HappensBefore order(program);
        const auto proofs = receipts(program);
        std::vector<std::size_t> ordinal(program.edges.size(), 0);
        std::size_t early = 0;
        order.each([&](const HappensBefore::Place& place, const Instruction& instruction) {
          if (instruction.key.op != Op::Send) return;
          const auto edge = static_cast<std::size_t>(instruction.target);
          const std::uint32_t proof = proofs[edge][ordinal[edge]++];
          ASSERT_NE(proof, kNotProven);
          EXPECT_TRUE(order.over(place, {place[0], 0, proof}))
              << text(instruction) << " at " << proof;
          // In a chain no knowledge takes a detour, so the proof found is the first there is.
          EXPECT_TRUE(proof == 0 || !order.over(place, {place[0], 0, proof - 1}))
              << text(instruction) << " at " << proof;
          early += program.ranks[place[0]].streams[0].body[proof].key.op == Op::Recv;
        });
        EXPECT_TRUE(m == 1 || early > 0);
      }
    }
  }
}

TEST(Receipts, OfOneFOneBComeWithTheGradientThatFollows) {
  const Program program = sample_program(one_f_one_b_order(2, 4));
  const std::vector<Instruction>& body = program.ranks[0].streams[0].body;
  const auto proofs = receipts(program);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(text(body[proofs[0][k]].key), "RECV 0." + std::to_string(k));
  // Rank 1 sends gradient k; rank 0 receives it before BF k, then makes activation k + 2, which
  // proves it.
  const std::vector<Instruction>& last = program.ranks[1].streams[0].body;
  EXPECT_EQ(text(last[proofs[1][0]].key), "RECV 1.2");
  EXPECT_EQ(text(last[proofs[1][1]].key), "RECV 1.3");
  EXPECT_EQ(text(last[proofs[1][2]].key), "WAIT 1");
}

TEST(Receipts, AreMissingWhereNothingProvesThem) {
  Program program = sample_program(one_f_one_b_order(2, 4));
  for (RankProgram& rank : program.ranks)
    std::erase_if(rank.streams[0].body, [](const Instruction& i) { return i.key.op == Op::Wait; });
  const auto proofs = receipts(program);
  EXPECT_NE(proofs[0][3], kNotProven);
  EXPECT_NE(proofs[1][1], kNotProven);
  EXPECT_EQ(proofs[1][2], kNotProven);
  EXPECT_EQ(proofs[1][3], kNotProven);
}

TEST(Receipts, BlockingSendsProveThemselves) {
  const Program program = sample_program(gpipe_order(2, 3), {.blocking_sends = true});
  const auto proofs = receipts(program);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_EQ(program.ranks[0].streams[0].body[proofs[0][k]].key.op, Op::Send);
}

const Buffer& row(const Program& program, std::int32_t rank, BufferClass cls,
                  std::int32_t microbatch, std::int32_t owner = -1) {
  for (const Buffer& buffer : program.buffers_of(RankId(rank)))
    if (buffer.cls == cls && buffer.microbatch == microbatch &&
        (owner < 0 || buffer.owner == owner))
      return buffer;
  ADD_FAILURE() << "no such buffer";
  return program.buffers[0];
}

std::string uses(const Program& program, std::int32_t rank, const Buffer& buffer) {
  const std::vector<Instruction>& body =
      program.ranks[static_cast<std::size_t>(rank)].streams[0].body;
  return brief(body[buffer.first]) + " .. " + brief(body[buffer.last]);
}

TEST(AssignMemory, BuffersLiveFromFirstToLastUse) {
  const Program program = sample_program(one_f_one_b_order(3, 4));
  EXPECT_EQ(uses(program, 0, row(program, 0, BufferClass::Data, 1)), "LOAD 0.1 .. BF 0.1");
  EXPECT_EQ(uses(program, 0, row(program, 0, BufferClass::Stash, 1)), "F 0.1 .. BF 0.1");
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::Stash, 1)), "RECV 1.1 e0 .. BF 1.1");
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::ReceiveBuffer, 1)),
            "RECV 1.1 e3 .. BF 1.1");
  EXPECT_EQ(uses(program, 0, row(program, 0, BufferClass::SendBuffer, 1)), "F 0.1 .. RECV 0.0 e2");
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::SendBuffer, 3, 2)), "BF 1.3 .. WAIT 1");
  EXPECT_EQ(uses(program, 0, row(program, 0, BufferClass::Weights, -1)), "LOAD 0.0 .. WAIT 0");
}

TEST(AssignMemory, SplitBackwardsKeepTheStashUntilTheWeightGradient) {
  const Program program = sample_program(one_f_one_b_order(3, 4), {.split_backward = true});
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::Stash, 1)), "RECV 1.1 e0 .. W 1.1");
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::ReceiveBuffer, 1)),
            "RECV 1.1 e3 .. W 1.1");
  EXPECT_EQ(uses(program, 1, row(program, 1, BufferClass::SendBuffer, 3, 2)), "B 1.3 .. WAIT 1");
}

TEST(AssignMemory, PersistentBuffersLieAtTheBottomInOrder) {
  const Program program = sample_program(one_f_one_b_order(3, 4));
  for (std::int32_t r = 0; r < 3; ++r) {
    const auto buffers = program.buffers_of(RankId(r));
    EXPECT_EQ(buffers[0].offset, Bytes(0));
    EXPECT_EQ(buffers[1].offset, Bytes(4096));
    EXPECT_EQ(buffers[2].offset, Bytes(8192));
    EXPECT_EQ(buffers[3].offset, Bytes(12288));
    for (const Buffer& buffer : buffers.subspan(4)) EXPECT_GE(buffer.offset, Bytes(12288 + 1024));
  }
}

// 1F1B keeps p - r stashes at stage r, and its layout wastes nothing.
TEST(AssignMemory, ArenasOfOneFOneBGrowWithTheStashesInFlight) {
  const SampleOptions options{.message = Bytes(0), .data = Bytes(0)};
  const Program program = sample_program(one_f_one_b_order(4, 9), options);
  for (std::int32_t r = 0; r < 4; ++r)
    EXPECT_EQ(program.arena[static_cast<std::size_t>(r)], Bytes(3 * 4096 + 1024 + 640 * (4 - r)))
        << r;
  EXPECT_EQ(program.arena, program.live_peak);
}

TEST(AssignMemory, MixedSizesWasteLittle) {
  for (const bool gpipe : {false, true}) {
    const SampleOptions options{.stash = Bytes(100000), .message = Bytes(7000), .data = Bytes(999)};
    const Program program =
        sample_program(gpipe ? gpipe_order(6, 24) : one_f_one_b_order(6, 24), options);
    for (std::size_t r = 0; r < 6; ++r)
      EXPECT_LE(static_cast<double>(program.arena[r].value),
                1.02 * static_cast<double>(program.live_peak[r].value))
          << r;
  }
}

TEST(AssignMemoryDeathTest, RowsWithoutInstructionsAreOurOwnMistake) {
  Program program = sample_program(one_f_one_b_order(2, 2));
  std::erase_if(program.ranks[0].streams[0].body,
                [](const Instruction& i) { return i.key.op == Op::Load; });
  EXPECT_DEATH(assign_memory(program), "a buffer whose instructions the program lacks");
}

}  // namespace
}  // namespace penstock::test
