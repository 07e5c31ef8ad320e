#include "core/formats/profile_format.h"

#include <set>
#include <tuple>

#include "core/formats/format_support.h"

namespace penstock {
namespace {

// A time that whoever adds up need not look at for overflow.
constexpr Bounds kTimeBounds = between(0, static_cast<double>(kLongestTime.value));

}  // namespace

template <class A>
void describe(A& a, Fingerprint& x) {
  a.required("cpu", x.cpu);
  a.required("cores", x.cores, at_least(0));
  a.required("instruction_set", x.instruction_set);
  a.required("memory_bytes", x.memory, at_least(0));
  a.required("software", x.software);
}

// The members of a spread stand in the row that it belongs to: a file has flat tables.
template <class A>
void describe_spread(A& a, Spread& x) {
  a.required("n", x.n, at_least(1));
  a.required("min_ns", x.min, kTimeBounds);
  a.required("p10_ns", x.p10, kTimeBounds);
  a.required("median_ns", x.median, kTimeBounds);
  a.required("p90_ns", x.p90, kTimeBounds);
  a.required("mad_ns", x.mad, kTimeBounds);
  if (a.ok() && !(x.min <= x.p10 && x.p10 <= x.median && x.median <= x.p90))
    a.fail("median_ns", "the quantiles are not in order",
           "min_ns, p10_ns, median_ns and p90_ns ascend");
}

template <class A>
void describe(A& a, LayerTime& x) {
  a.required("signature", x.signature);
  a.required("op", x.op);
  a.required("microbatch", x.microbatch, at_least(0));
  describe_spread(a, x.time);
}

template <class A>
void describe(A& a, LayerMemory& x) {
  a.required("signature", x.signature);
  a.required("microbatch", x.microbatch, at_least(1));
  a.required("parameters_bytes", x.parameters, at_least(0));
  a.required("saved_bytes", x.saved, at_least(0));
  a.required("output_bytes", x.output, at_least(0));
  a.required("workspace_bytes", x.workspace, at_least(0));
}

template <class A>
void describe(A& a, LinkTime& x) {
  a.required("path", x.path);
  a.required("message_bytes", x.bytes, at_least(0));
  if (A::kReading || !x.is_alone()) {
    a.optional("traffic", x.traffic);
    a.optional("pairs", x.pairs, at_least(1));
  }
  describe_spread(a, x.time);
}

template <class A>
void describe(A& a, StageTime& x) {
  a.required("op", x.op);
  a.required("microbatch", x.microbatch, at_least(1));
  a.required("layers_ns", x.layers, between(1, static_cast<double>(kLongestTime.value)));
  describe_spread(a, x.time);
}

template <class A>
void describe(A& a, LayerFit& x) {
  a.required("signature", x.signature);
  a.required("op", x.op);
  a.required("base_s", x.base_s, at_least(0));
  a.required("per_sample_s", x.per_sample_s);
  a.required("least_microbatch", x.least, at_least(1));
  a.required("most_microbatch", x.most, at_least(1));
  a.required("worst_relative_error", x.worst_relative_error, at_least(0));
}

template <class A>
void describe(A& a, Spread& x) {
  describe_spread(a, x);
}

template <class A>
void describe(A& a, ContentionTime& x) {
  a.required("class", x.work);
  a.required("beside", x.beside);
  a.required("slowdown", x.slowdown, between(1, kMostSlowdown));
  a.required("moved_bytes", x.moved, at_least(0));
  a.required("alone", x.alone);
  a.required("together", x.time);
}

void write_value(JsonWriter& writer, const StageTime& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const LayerFit& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const Spread& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const ContentionTime& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const LayerTime& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const LayerMemory& x) {
  write_row(writer, x);
}
void write_value(JsonWriter& writer, const LinkTime& x) {
  write_row(writer, x);
}

template <class A>
void describe(A& a, Profile& x) {
  a.required("workload", x.workload);
  a.required("workload_fingerprint", x.workload_fingerprint);
  a.required("device_kind", x.device_kind);
  a.required("machine", x.machine);
  a.required("load_average", x.load_average, at_least(0));
  a.optional("warnings", x.warnings);
  a.required("times", x.times);
  a.required("memory", x.memory);
  a.optional("links", x.links);
  unless_empty(a, "contention", x.contention);
  unless_empty(a, "stages", x.stages);
  unless_empty(a, "fits", x.fits);
  if (A::kReading || x.drift) a.optional("drift", x.drift);
  if (A::kReading || x.private_cache.value > 0) a.optional("private_cache_bytes", x.private_cache, at_least(0));
}

namespace {

// A cost that stands in the file twice has no one value. Keys of `rows` as `key` gives them.
template <class Row, class Key>
Result<void> check_distinct(const std::vector<Row>& rows, const std::string& pointer, Key key) {
  std::set<decltype(key(rows.front()))> seen;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!seen.insert(key(rows[i])).second)
      return invalid(pointer + "/" + std::to_string(i), "an earlier row has the same keys",
                     "keep one of them");
  return {};
}

Result<void> validate(const Profile& profile) {
  PENSTOCK_TRY_VOID(check_distinct(profile.times, "/times", [](const LayerTime& row) {
    return std::tuple(std::string_view(row.signature), row.op, row.microbatch);
  }));
  PENSTOCK_TRY_VOID(check_distinct(profile.memory, "/memory", [](const LayerMemory& row) {
    return std::tuple(std::string_view(row.signature), row.microbatch);
  }));
  PENSTOCK_TRY_VOID(check_distinct(profile.contention, "/contention", [](const ContentionTime& row) {
    return std::tuple(row.work, row.beside);
  }));
  return check_distinct(profile.links, "/links", [](const LinkTime& row) {
    return std::tuple(std::string_view(row.path), row.bytes, row.traffic, row.pairs);
  });
}

}  // namespace

Result<Profile> profile_from(const Value& document, std::string file_name) {
  PENSTOCK_TRY(Profile profile, from_document<Profile>(document, file_name, kProfileSchema));
  if (auto valid = validate(profile); !valid) {
    ReadContext context(std::move(file_name));
    fail_at_pointer(context, document, std::move(valid.error()));
    return fail(context.take_error());
  }
  return profile;
}

Result<Profile> read_profile(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_json(text, file_name));
  return profile_from(document, std::move(file_name));
}

std::string write_profile(const Profile& profile) {
  return to_json(profile, kProfileSchema);
}

}  // namespace penstock
