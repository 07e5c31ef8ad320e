#include "core/answer.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace penstock {
namespace {

Answer sample() {
  Answer answer("penstock.simulate/1");
  answer.add("iteration_time_s", "iteration time", 0.1, Unit::Seconds);
  answer.add("throughput_samples_per_s", "throughput", 80.0, "samples/s");
  answer.add("bubble_fraction", "bubble", 0.125, Unit::Fraction);
  answer.add("ok", "ok", false);
  answer.add("runner_up", "runner-up", Value());
  answer.add("losses", "losses", Value::list(std::vector<double>{1.5, 2}), {}, Show::DataOnly);
  Table& devices = answer.add_table("devices", "devices",
                                    {{"rank", "rank"},
                                     {"busy_s", "busy", Unit::Seconds},
                                     {"peak_memory_bytes", "peak memory", Unit::Bytes}});
  devices.add({0, 0.05, 4LL << 30});
  devices.add({1, 0.0071, 512});
  Table& violations = answer.add_table("violations", "violations",
                                       {{"rule", "rule", {}, Align::Left},
                                        {"message", "message", {}, Align::Left},
                                        {"ranks", "ranks", {}, Align::Left},
                                        {"instructions", "instructions", {}, Align::Left}});
  violations.add({"R7b", "waits, \"forever\" | é", Value::list(std::vector<int>{0, 1}),
                  Value::list(std::vector<std::string>{"F 0.1", "B 0.1"})});
  answer.note("costs: derived");
  answer.verdict = "not admitted";
  return answer;
}

TEST(Answer, JsonHasScalarsAtTheTopAndTablesAsArraysOfObjects) {
  EXPECT_EQ(to_json(sample()), R"({
  "schema": "penstock.simulate/1",
  "iteration_time_s": 0.1,
  "throughput_samples_per_s": 80.0,
  "bubble_fraction": 0.125,
  "ok": false,
  "runner_up": null,
  "losses": [1.5, 2.0],
  "devices": [
    {"rank": 0, "busy_s": 0.05, "peak_memory_bytes": 4294967296},
    {"rank": 1, "busy_s": 0.0071, "peak_memory_bytes": 512}
  ],
  "violations": [
    {"rule": "R7b", "message": "waits, \"forever\" | é", "ranks": [0, 1], "instructions": ["F 0.1", "B 0.1"]}
  ],
  "notes": ["costs: derived"],
  "verdict": "not admitted"
}
)");
  EXPECT_TRUE(parse_json(to_json(sample()), "a.json"));
}

TEST(Answer, TextIsAlignedAndScaled) {
  EXPECT_EQ(to_text(sample()), R"(iteration time  100 ms
throughput      80 samples/s
bubble          12.5 %
ok              no
runner-up       -

devices
  rank     busy  peak memory
     0  50.0 ms     4.00 GiB
     1  7.10 ms        512 B

violations
  rule  message               ranks   instructions
  R7b   waits, "forever" | é  [0, 1]  [F 0.1, B 0.1]

note: costs: derived

not admitted
)");
}

TEST(Answer, MarkdownIsTables) {
  EXPECT_EQ(to_markdown(sample()), R"(| quantity | value |
|:---|---:|
| iteration time | 100 ms |
| throughput | 80 samples/s |
| bubble | 12.5 % |
| ok | no |
| runner-up | - |

**devices**

| rank | busy | peak memory |
|---:|---:|---:|
| 0 | 50.0 ms | 4.00 GiB |
| 1 | 7.10 ms | 512 B |

**violations**

| rule | message | ranks | instructions |
|:---|:---|:---|:---|
| R7b | waits, "forever" \| é | [0, 1] | [F 0.1, B 0.1] |

- costs: derived

**not admitted**
)");
}

TEST(Answer, CsvIsInBaseUnits) {
  EXPECT_EQ(to_csv(sample()), R"(key,value,unit
iteration_time_s,0.1,s
throughput_samples_per_s,80.0,samples/s
bubble_fraction,0.125,
ok,false,
runner_up,,
losses,1.5;2.0,

# devices
rank,busy_s,peak_memory_bytes
0,0.05,4294967296
1,0.0071,512

# violations
rule,message,ranks,instructions
R7b,"waits, ""forever"" | é",0;1,F 0.1;B 0.1
)");
}

TEST(Answer, ATableAloneIsPlainCsv) {
  Answer answer("s");
  answer.add_table("t", "", {{"a", "a"}})
      .add({Value::list(std::vector<Value>{Value::list(std::vector<int>{1, 2})})});
  EXPECT_EQ(to_csv(answer), "a\n\"[[1, 2]]\"\n");
}

TEST(Answer, AnEmptyTableSaysSo) {
  Answer answer("s");
  answer.add_table("t", "things", {{"a", "a"}});
  EXPECT_EQ(to_text(answer), "things\n  a\n  (none)\n");
  EXPECT_EQ(to_json(answer), "{\n  \"schema\": \"s\",\n  \"t\": []\n}\n");
}

TEST(Answer, MisuseAborts) {
  Answer answer("s");
  Table& table = answer.add_table("t", "", {{"a", "a"}, {"b", "b"}});
  EXPECT_DEATH(table.add({1}), "internal error");
  answer.add("t", "twice", 1);
  EXPECT_DEATH(to_json(answer), "internal error");
}

TEST(HumanText, ScalesByUnit) {
  EXPECT_EQ(human_text(0.0123, Unit::Seconds), "12.3 ms");
  EXPECT_EQ(human_text(-0.0123, Unit::Seconds), "-12.3 ms");
  EXPECT_EQ(human_text(0, Unit::Seconds), "0 ns");
  EXPECT_EQ(human_text(2.5e-10, Unit::Seconds), "0.25 ns");
  EXPECT_EQ(human_text(25e9, Unit::BytesPerSecond), "25.0 GB/s");
  EXPECT_EQ(human_text(117e9, Unit::FlopsPerSecond), "117 GFLOP/s");
  EXPECT_EQ(human_text(1234567, {}), "1234567");
  EXPECT_EQ(human_text(1234567.8, {}), "1234568");
  EXPECT_EQ(human_text(0.333333, {}), "0.3333");
  EXPECT_EQ(human_text(true, {}), "yes");
  EXPECT_EQ(human_text(*parse_json("[[1, 2], [0.5]]", "f"), Unit::Seconds),
            "[[1.00 s, 2.00 s], [500 ms]]");
}

}  // namespace
}  // namespace penstock
