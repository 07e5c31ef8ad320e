#include "models/workloads/builders.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/formats/workload_format.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

Error error_of(const std::string& text) {
  auto result = build_workload(text);
  EXPECT_FALSE(result) << text;
  return result ? Error{} : result.error();
}

TEST(Builders, EveryBuilderIsValidAtItsDefaultsAndAtItsLeast) {
  std::set<std::string_view> names;
  for (const WorkloadBuilder& builder : workload_builders()) {
    EXPECT_TRUE(names.insert(builder.name).second) << builder.name;
    EXPECT_FALSE(builder.about.empty());
    std::string least = std::string(builder.name) + ":";
    for (const BuilderParameter& parameter : builder.parameters) {
      EXPECT_LE(parameter.least, parameter.default_value) << parameter.name;
      EXPECT_LE(parameter.default_value, parameter.greatest) << parameter.name;
      if (least.back() != ':') least += ",";
      least += std::string(parameter.name) + "=" + std::to_string(parameter.least);
    }
    for (const std::string& text : {std::string(builder.name), least}) {
      const auto workload = build_workload(text);
      ASSERT_TRUE(workload) << text << ": " << workload.error().text();
      const auto valid = validate(*workload);
      EXPECT_TRUE(valid) << text << ": " << valid.error().text();
    }
  }
}

TEST(Builders, TheNameIsTheFormWithoutDefaultsAndBatch) {
  EXPECT_EQ(build_workload("gpt")->name, "gpt");
  EXPECT_EQ(build_workload("gpt:heads=8,layers=4,batch=2")->name, "gpt:heads=8");
  EXPECT_EQ(build_workload("gpt:heads=8,layers=2")->name, "gpt:layers=2,heads=8");
  const auto again = build_workload(build_workload("mlp:width=64,layers=9")->name);
  EXPECT_EQ(*again, *build_workload("mlp:layers=9,width=64"));
}

TEST(Builders, SameInputSameWorkloadAndFingerprint) {
  EXPECT_EQ(*build_workload("gpt:layers=3"), *build_workload("gpt:layers=3"));
  EXPECT_EQ(fingerprint(*build_workload("gpt:layers=3")),
            fingerprint(*build_workload("gpt:hidden=256,layers=3")));
  EXPECT_EQ(fingerprint(*build_workload("gpt:batch=8")),
            fingerprint(*build_workload("gpt:batch=512")));
  EXPECT_NE(fingerprint(*build_workload("gpt:layers=3")),
            fingerprint(*build_workload("gpt:layers=4")));
  EXPECT_NE(fingerprint(*build_workload("gpt:heads=2")),
            fingerprint(*build_workload("gpt:heads=4")));
  EXPECT_NE(fingerprint(*build_workload("gpt")), fingerprint(*build_workload("mlp")));
}

TEST(Builders, UnknownNamesAndParametersNameTheNearest) {
  const Error name = error_of("gtp:layers=2");
  EXPECT_EQ(name.code, ErrorCode::Usage);
  EXPECT_NE(name.hint.find("did you mean gpt?"), std::string::npos) << name.hint;
  const Error parameter = error_of("gpt:layres=2");
  EXPECT_EQ(parameter.code, ErrorCode::Usage);
  EXPECT_NE(parameter.hint.find("did you mean layers?"), std::string::npos) << parameter.hint;
}

TEST(Builders, ValuesOutOfRangeOrNoNumbersAreUsageErrors) {
  for (const char* text :
       {"gpt:layers=0", "gpt:layers=-1", "gpt:layers=2.5", "gpt:layers=two", "gpt:layers=", "gpt:4",
        "gpt:layers=99999999999999999999", "gpt:vocabulary=255", "gpt:batch=0", "mlp:width=0"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::Usage) << text;
  }
}

TEST(Builders, WhatCannotBeCountedIsRefusedRatherThanOverflowed) {
  const Error error =
      error_of("gpt:layers=10000,heads=10000,hidden=1000000,sequence=1000000,batch=1000000000");
  EXPECT_EQ(error.code, ErrorCode::Usage);
  EXPECT_NE(error.message.find("elements"), std::string::npos) << error.message;
}

TEST(LoadWorkload, ABuiltInGoesBeforeAFile) {
  EXPECT_EQ(*load_workload("mlp:layers=2"), *build_workload("mlp:layers=2"));
  EXPECT_EQ(load_workload("mlp:layer=2").error().code, ErrorCode::Usage);
}

TEST(LoadWorkload, AFileReadsBackAsWhatWasWritten) {
  const test::TempDir folder;
  const Workload workload = *build_workload("gpt:layers=2,hidden=8,heads=2,sequence=4");
  test::write_file(folder / "model.json", write_workload(workload));
  const auto read = load_workload((folder / "model.json").string());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, workload);
}

TEST(LoadWorkload, APathThatIsNotThereIsAFileErrorAndAWordIsUsage) {
  EXPECT_EQ(load_workload("absent/model.json").error().code, ErrorCode::BadInput);
  const auto word = load_workload("gptt");
  EXPECT_EQ(word.error().code, ErrorCode::Usage);
  EXPECT_NE(word.error().hint.find("did you mean gpt?"), std::string::npos);
}

}  // namespace
}  // namespace penstock
