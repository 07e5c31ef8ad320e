#include "core/program_check.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/liveness.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

std::string listed(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& violation : violations)
    out += violation.rule + ": " + violation.message + "\n";
  return out;
}

TEST(ProgramCheck, ProvesGPipeAndOneFOneBOfEverySmallSize) {
  for (std::int32_t p = 1; p <= 5; ++p) {
    for (std::int32_t m = 1; m <= 9; ++m) {
      for (const bool split : {false, true}) {
        EXPECT_EQ(listed(check(sample_program(gpipe_order(p, m), {.split_backward = split}))), "")
            << p << " " << m;
        EXPECT_EQ(listed(check(sample_program(one_f_one_b_order(p, m), {.split_backward = split}))),
                  "")
            << p << " " << m;
      }
    }
  }
}

TEST(ProgramCheck, ListsNoMoreThanAskedFor) {
  Program program = sample_program(gpipe_order(2, 8));
  program.ranks[0].streams[0].body.clear();
  program.ranks[0].streams[1].body.clear();
  program.buffers.clear();
  program.first_buffer.assign(3, 0);
  EXPECT_EQ(check(program, {.most = 3}).size(), 3u);
}

// One random change to one instruction's place or key, or to one buffer row. It may change nothing.
void mutate(Program& program, std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  RankProgram& rank = program.ranks[pick(program.ranks.size())];
  Stream& stream = rank.streams[pick(rank.streams.size())];
  if (stream.body.empty()) return;
  const std::size_t i = pick(stream.body.size());
  Instruction& instruction = stream.body[i];
  switch (pick(5)) {
    case 0:
      stream.body.erase(stream.body.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    case 1:
      stream.body.insert(stream.body.begin() + static_cast<std::ptrdiff_t>(i), instruction);
      return;
    case 2:
      instruction.key.microbatch =
          (instruction.key.microbatch + 1 + static_cast<std::int32_t>(pick(20))) % 29 + 1;
      return;
    case 3:
      std::swap(stream.body[i], stream.body[pick(stream.body.size())]);
      return;
    default:
      program.buffers[pick(program.buffers.size())].last = 0;
      return;
  }
}

// What a run would do wrong, decided by brute force: ranks step in random order with as much
// freedom as the streams give, and every instruction must find what it needs. Nothing here is
// shared with the checker.
class BruteForce {
 public:
  BruteForce(const Program& program, unsigned seed) : program_(program), random_(seed) {}

  // "" if the run ends and every microbatch of every stage was trained once, in order.
  std::string run() {
    struct Cursor {
      std::size_t rank, stream, next;
    };
    std::vector<Cursor> cursors;
    for (std::size_t r = 0; r < program_.ranks.size(); ++r)
      for (std::size_t s = 0; s < program_.ranks[r].streams.size(); ++s)
        cursors.push_back({r, s, 0});
    std::vector<std::vector<std::size_t>> done(program_.ranks.size());
    for (std::size_t r = 0; r < done.size(); ++r)
      done[r].assign(program_.ranks[r].streams.size(), 0);
    for (;;) {
      std::vector<std::pair<std::size_t, std::size_t>>
          moves;  // cursor, and partner of a SEND (itself: none)
      bool finished = true;
      for (std::size_t c = 0; c < cursors.size(); ++c) {
        const auto& body = program_.ranks[cursors[c].rank].streams[cursors[c].stream].body;
        if (cursors[c].next == body.size()) continue;
        finished = false;
        if (!ready(body[cursors[c].next], done[cursors[c].rank])) continue;
        if (body[cursors[c].next].key.op == Op::Recv) continue;
        if (body[cursors[c].next].key.op != Op::Send) {
          moves.emplace_back(c, c);
          continue;
        }
        for (std::size_t d = 0; d < cursors.size(); ++d) {
          const auto& other = program_.ranks[cursors[d].rank].streams[cursors[d].stream].body;
          if (cursors[d].next < other.size() && other[cursors[d].next].key.op == Op::Recv &&
              other[cursors[d].next].target == body[cursors[c].next].target &&
              ready(other[cursors[d].next], done[cursors[d].rank]))
            moves.emplace_back(c, d);
        }
      }
      if (finished) return missing();
      if (moves.empty()) return "hangs";
      const auto [c, d] = moves[static_cast<std::size_t>(random_()) % moves.size()];
      for (const std::size_t k : std::set{c, d}) {
        Cursor& cursor = cursors[k];
        const Instruction& instruction =
            program_.ranks[cursor.rank].streams[cursor.stream].body[cursor.next];
        if (const std::string wrong = perform(instruction); !wrong.empty()) return wrong;
        done[cursor.rank][cursor.stream] = ++cursor.next;
      }
    }
  }

 private:
  using Cell = std::tuple<Op, int, int>;

  static bool ready(const Instruction& instruction, const std::vector<std::size_t>& done) {
    return instruction.after_stream < 0 ||
           done[static_cast<std::size_t>(instruction.after_stream)] > instruction.after_index;
  }

  bool was(Op op, int stage, int microbatch) const {
    return performed_.count({op, stage, microbatch}) != 0;
  }

  std::string perform(const Instruction& instruction) {
    const auto& key = instruction.key;
    const int s = key.stage, last = program_.stages - 1;
    const int m = key.op == Op::Step
                      ? -1
                      : key.microbatch;  // a STEP is of no microbatch, whatever its key says
    const bool first_time = performed_.insert({key.op, s, m}).second || key.op == Op::Wait;
    // Both edges of a stage have RECVs with one key, and likewise SENDs: told apart by the edge.
    if (is_transfer(key.op)) {
      if (!moved_.insert({key.op, instruction.target, m}).second) return "moved twice";
    } else if (!first_time) {
      return "ran twice";
    }
    const int activations = s - 1, gradients = program_.stages - 1 + s;
    const auto moved = [&](Op op, int edge) { return moved_.count({op, edge, m}) != 0; };
    switch (key.op) {
      case Op::F:
        return (s > 0 && !moved(Op::Recv, activations)) || (s == 0 && !was(Op::Load, s, m))
                   ? "F too early"
                   : "";
      case Op::Loss:
        return was(Op::F, s, m) ? "" : "LOSS too early";
      case Op::BF:
        return !was(Op::F, s, m) || (s < last && !moved(Op::Recv, gradients)) ||
                       (s == last && !was(Op::Loss, s, m))
                   ? "BF too early"
                   : "";
      case Op::Send:
        return was(program_.edges[static_cast<std::size_t>(instruction.target)].payload ==
                           Payload::Activation
                       ? Op::F
                       : Op::BF,
                   s, m)
                   ? ""
                   : "SEND too early";
      case Op::Step:
        for (int k = 0; k < program_.body_microbatches; ++k)
          if (!was(Op::BF, s, k)) return "STEP too early";
        return "";
      default:
        return "";
    }
  }

  std::string missing() const {
    for (int s = 0; s < program_.stages; ++s) {
      for (int m = 0; m < program_.body_microbatches; ++m)
        if (!was(Op::F, s, m) || !was(Op::BF, s, m)) return "not all trained";
      if (!was(Op::Step, s, -1)) return "no STEP";
    }
    return "";
  }

  const Program& program_;
  std::minstd_rand random_;
  std::set<Cell> performed_, moved_;
};

TEST(ProgramCheck, WhatBruteForceSeesGoWrongIsAlwaysRefused) {
  std::mt19937 random(7);
  int wrong = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto p = static_cast<std::int32_t>(1 + random() % 4),
               m = static_cast<std::int32_t>(1 + random() % 6);
    Program program = sample_program(round % 2 == 0 ? one_f_one_b_order(p, m) : gpipe_order(p, m));
    for (auto n = random() % 3; n-- > 0;) mutate(program, random);
    const std::vector<Violation> violations = check(program);
    refused += !violations.empty();
    if (!violations.empty() && violations.front().rule == "tables") continue;
    for (unsigned seed = 0; seed < 4; ++seed) {
      const std::string trouble = BruteForce(program, seed).run();
      if (trouble.empty()) continue;
      ++wrong;
      EXPECT_FALSE(violations.empty()) << trouble << " in round " << round;
      break;
    }
  }
  EXPECT_GT(wrong, 300);
  EXPECT_GT(refused, wrong);
}

TEST(ProgramCheck, ProgramsLeftAloneByMutationStayProved) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const auto p = static_cast<std::int32_t>(1 + random() % 4),
               m = static_cast<std::int32_t>(1 + random() % 6);
    const Program program = sample_program(one_f_one_b_order(p, m));
    EXPECT_EQ(listed(check(program)), "");
    EXPECT_EQ(BruteForce(program, 1).run(), "");
  }
}

// What is not looked at is not taken to be right.
TEST(ProgramCheck, AFullListEndsTheSearch) {
  Program program = sample_program(one_f_one_b_order(2, 30));
  for (Instruction& instruction : program.ranks[0].streams[0].body) instruction.key.step = 1;
  program.ranks[1].streams[0].body.erase(program.ranks[1].streams[0].body.begin() + 1);  // an F
  EXPECT_EQ(check(program).size(), 20u);
  EXPECT_EQ(check(program, {.most = 3}).size(), 3u);
}

}  // namespace
}  // namespace penstock::test
