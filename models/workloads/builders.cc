#include "models/workloads/builders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/file.h"
#include "core/formats/workload_format.h"
#include "models/text_form.h"
#include "models/workloads/built_in.h"

namespace penstock {
namespace {

const WorkloadBuilder* find_builder(std::string_view name) {
  for (const WorkloadBuilder& builder : workload_builders())
    if (builder.name == name) return &builder;
  return nullptr;
}

tl::unexpected<Error> unknown(std::string_view text, std::string_view name, std::string_view as) {
  std::vector<std::string_view> names;
  for (const WorkloadBuilder& builder : workload_builders()) names.push_back(builder.name);
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  const std::string_view meant = nearest(name, names);
  return fail(ErrorCode::Usage, fmt::format("\"{}\" is {}", text, as),
              meant.empty() ? "built in: " + all
                            : fmt::format("did you mean {}? built in: {}", meant, all));
}

// "gpt:layers=8" however it was written; the batch is no part of what a workload is.
std::string canonical_name(const WorkloadBuilder& builder, const BuilderValues& values) {
  std::string name(builder.name);
  char separator = ':';
  for (const BuilderParameter& parameter : builder.parameters) {
    const std::int64_t value = values.find(parameter.name)->second;
    if (value == parameter.default_value || parameter.name == "batch") continue;
    name += fmt::format("{}{}={}", separator, parameter.name, value);
    separator = ',';
  }
  return name;
}

Result<Workload> read_workload_file(const std::string& path) {
  PENSTOCK_TRY(const Value document, read_document(path));
  return workload_from(document, path == "-" ? "<stdin>" : path);
}

}  // namespace

std::span<const WorkloadBuilder> workload_builders() {
  static const std::array<WorkloadBuilder, 4> kBuilders = {gpt_builder(), mlp_builder(),
                                                           resnet_builder(), unet_builder()};
  return kBuilders;
}

Result<Workload> build_workload(std::string_view text) {
  PENSTOCK_TRY(const TextForm form, parse_text_form(text));
  const WorkloadBuilder* builder = find_builder(form.name);
  if (builder == nullptr) return unknown(text, form.name, "not a built-in workload");
  if (!form.argument.empty()) {
    return fail(ErrorCode::Usage, fmt::format("\"{}\": \"{}\" has no value", text, form.argument),
                "write key=value");
  }
  std::vector<std::string_view> known;
  for (const BuilderParameter& parameter : builder->parameters) known.push_back(parameter.name);
  PENSTOCK_TRY_VOID(expect_keys(form, known));
  BuilderValues values;
  for (const BuilderParameter& parameter : builder->parameters) {
    std::int64_t value = parameter.default_value;
    if (const std::string* given = form.find(parameter.name); given != nullptr) {
      const std::string what = fmt::format("{}: {}", builder->name, parameter.name);
      PENSTOCK_TRY(value, parse_count(*given, what, parameter.least, parameter.greatest));
    }
    values.emplace(parameter.name, value);
  }
  PENSTOCK_TRY(Workload workload, builder->build(values));
  workload.name = canonical_name(*builder, values);
  // Bounds on single parameters do not bound their product: what is left to go wrong is the size.
  if (const auto valid = validate(workload); !valid) {
    return fail(ErrorCode::Usage, fmt::format("{}: {}", text, valid.error().message),
                "make the batch or a dimension smaller");
  }
  return workload;
}

Result<Workload> load_workload(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (find_builder(name) != nullptr) return build_workload(text);
  std::error_code error;
  if (text == "-" || std::filesystem::exists(text, error)) return read_workload_file(text);
  // What looks like a path was meant as one.
  if (text.find_first_of("/.") != std::string::npos && text.find(':') == std::string::npos)
    return read_workload_file(text);
  return unknown(text, name, "neither a built-in workload nor a file");
}

}  // namespace penstock
