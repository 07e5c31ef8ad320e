#include "exec/data_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/file.h"
#include "core/random.h"
#include "exec/data/open_images.h"
#include "exec/data/synthetic_images.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_text(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return read_data(path);
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string extension = it->path().extension();
    if (extension == ".md" || extension == ".txt") names.push_back(it->path().string());
  }
  if (failed) {
    return fail(Error{.code = ErrorCode::BadInput, .message = "cannot read the folder: " + failed.message(),
                      .where = {.file = path}, .hint = "make it and its subfolders readable, or give one file"});
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) {
    PENSTOCK_TRY(std::string text, read_data(name));
    all += text;
  }
  return all;
}

// How many different values the readers of each source tell apart.
std::vector<std::int64_t> value_limits(const Workload& workload) {
  std::vector<std::int64_t> limits(workload.sources.size(), 256);
  for (const Network& network : workload.networks) {
    for (const Layer& layer : network.layers) {
      std::int64_t limit = 256;
      if (layer.kind == LayerKind::Embedding) limit = layer.parameters[0].dimensions[0];
      if (layer.kind == LayerKind::CrossEntropy) limit = network.layers[layer.inputs[0].index()].output.dimensions.back();
      for (const SourceId source : layer.sources) limits[source.index()] = std::min(limits[source.index()], limit);
    }
  }
  return limits;
}

bool is_of_images(const Source& source) {
  return source.kind == SourceKind::Image || source.kind == SourceKind::Label || source.kind == SourceKind::NoisyImage;
}

bool is_of_text(const Source& source) { return source.kind == SourceKind::Text || source.kind == SourceKind::NextText; }

// The set that the workload's images and labels are of.
ImageRequest image_request(const Workload& workload, const std::vector<std::int64_t>& limits) {
  ImageRequest request;
  for (std::size_t s = 0; s < workload.sources.size(); ++s) {
    const Source& source = workload.sources[s];
    const auto& dimensions = source.sample.dimensions;
    if (source.kind == SourceKind::Image) request = {dimensions[0], dimensions[1], dimensions[2], request.classes};
    if (source.kind == SourceKind::Label) request.classes = request.classes == 0 ? limits[s] : std::min(request.classes, limits[s]);
  }
  return request;
}

}  // namespace

bool reads_images(const Workload& workload) {
  return std::any_of(workload.sources.begin(), workload.sources.end(), is_of_images);
}

DataSource::DataSource(const Workload& workload, std::uint64_t seed)
    : sources_(workload.sources), limits_(value_limits(workload)), seed_(seed) {
  for (const Source& source : workload.sources) {
    if (is_of_text(source)) window_ = std::max(window_, source.sample.elements() + 1);
  }
}

DataSource DataSource::random_text(const Workload& workload, std::uint64_t seed) {
  DataSource data(workload, seed);
  if (reads_images(workload)) data.images_ = synthetic_images(image_request(workload, data.limits_), seed);
  const auto limit = static_cast<std::uint64_t>(
      data.limits_.empty() ? 256 : *std::min_element(data.limits_.begin(), data.limits_.end()));
  data.text_.resize(static_cast<std::size_t>(std::max<std::int64_t>(data.window_, 1 << 16)));
  for (std::size_t i = 0; i < data.text_.size(); ++i) data.text_[i] = static_cast<char>(combine(seed, i) % limit);
  return data;
}

Result<DataSource> DataSource::open(const std::string& path, const Workload& workload, std::uint64_t seed, bool held_out) {
  DataSource data(workload, seed);
  if (reads_images(workload)) {
    if (data.window_ > 0)
      return fail(ErrorCode::BadInput, fmt::format("workload {} reads both a text and images", workload.name),
                  "one of them can be opened: give sources of one sort");
    ImageRequest images = image_request(workload, data.limits_);
    images.held_out = held_out;
    PENSTOCK_TRY(data.images_, open_images(path, images, seed));
  }
  if (data.window_ == 0) return data;  // nothing is read from text
  PENSTOCK_TRY(data.text_, read_text(path));
  if (data.bytes() < data.window_) {
    return fail(Error{.code = ErrorCode::BadInput,
                      .message = data.text_.empty()
                                     ? "the data file is empty"
                                     : fmt::format("{} bytes of text, but one sample takes {} (a window and the byte after it)",
                                                   data.bytes(), data.window_),
                      .where = {.file = path},
                      .hint = "give a longer text with --data, or a workload with a shorter sequence"});
  }
  for (std::size_t s = 0; s < workload.sources.size(); ++s) {
    const std::int64_t limit = data.limits_[s];
    const auto beyond = std::find_if(data.text_.begin(), data.text_.end(),
                                     [&](char c) { return static_cast<unsigned char>(c) >= limit; });
    if (workload.sources[s].kind == SourceKind::Synthetic || beyond == data.text_.end()) continue;
    return fail(Error{.code = ErrorCode::BadInput,
                      .message = fmt::format("byte {} of the text is {}, but the workload's vocabulary has {} values",
                                             beyond - data.text_.begin(), static_cast<unsigned char>(*beyond), limit),
                      .where = {.file = path},
                      .hint = "build the workload with vocabulary=256 to read any bytes"});
  }
  return data;
}

void DataSource::fill_from_images(const Source& source, std::uint64_t key, std::uint8_t* out) const {
  const auto index = static_cast<std::size_t>(mix(key) % static_cast<std::uint64_t>(images_.count()));
  if (source.kind == SourceKind::Label) {
    *out = static_cast<std::uint8_t>(images_.labels[index]);
    return;
  }
  const auto bytes = static_cast<std::size_t>(images_.image_bytes);
  std::memcpy(out, images_.pixels.data() + index * bytes, bytes);
  if (source.kind != SourceKind::NoisyImage) return;
  const std::uint64_t stream = combine(key, hash(source.name));
  for (std::size_t e = 0; e < bytes; ++e) {
    const std::uint64_t drawn = combine(stream, e);
    const int noise = static_cast<int>(drawn & 63) - static_cast<int>(drawn >> 6 & 63);
    out[e] = static_cast<std::uint8_t>(std::clamp(out[e] + noise, 0, 255));
  }
}

void DataSource::fill(SourceId id, std::int32_t step, std::int64_t first, std::int64_t count, std::uint8_t* out) const {
  const Source& source = sources_[id.index()];
  const auto elements = static_cast<std::size_t>(source.sample.elements());
  for (std::int64_t i = 0; i < count; ++i, out += elements) {
    const auto limit = static_cast<std::uint64_t>(limits_[id.index()]);
    const std::uint64_t key = combine(combine(seed_, static_cast<std::uint64_t>(step)), static_cast<std::uint64_t>(first + i));
    if (source.kind == SourceKind::Synthetic) {
      const std::uint64_t stream = combine(key, hash(source.name));
      for (std::size_t e = 0; e < elements; ++e) out[e] = static_cast<std::uint8_t>(combine(stream, e) % limit);
      continue;
    }
    if (is_of_images(source)) {
      fill_from_images(source, key, out);
      continue;
    }
    const std::uint64_t places = static_cast<std::uint64_t>(bytes() - window_) + 1;
    const std::size_t start = mix(key) % places + (source.kind == SourceKind::NextText ? 1 : 0);
    std::memcpy(out, text_.data() + start, elements);
  }
}

}  // namespace penstock
