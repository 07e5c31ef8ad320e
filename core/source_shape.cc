#include "core/source_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/invalid.h"

namespace penstock {
namespace {

bool is_image(const Source& source) {
  return source.kind == SourceKind::Image || source.kind == SourceKind::NoisyImage;
}

}  // namespace

Result<void> check_source_shape(const Workload& workload, SourceId id) {
  const Source& source = workload.sources[id.index()];
  const std::string who = fmt::format("source '{}'", source.name);
  const auto& dimensions = source.sample.dimensions;
  const bool label = source.kind == SourceKind::Label;
  if (!is_image(source) && !label) return {};
  if (source.sample.type != DataType::Byte)
    return invalid("/sample/type", who + " is not of bytes", "images and labels are bytes");
  if (label && !dimensions.empty())
    return invalid("/sample/dimensions",
                   fmt::format("{} has {} dimensions", who, dimensions.size()),
                   "a label is a single number: leave its dimensions empty");
  if (!label && dimensions.size() != 3)
    return invalid("/sample/dimensions",
                   fmt::format("{} has {} dimensions", who, dimensions.size()),
                   "an image is [channels, height, width]");
  if (source.kind == SourceKind::Image) {
    const auto first = std::find_if(workload.sources.begin(), workload.sources.end(), is_image);
    if (first->sample == source.sample) return {};
    return invalid(
        "/sample/dimensions",
        fmt::format("{} and source '{}' are images of different shapes", who, first->name),
        "the images of a workload are of one shape");
  }
  const auto image =
      std::find_if(workload.sources.begin(), workload.sources.end(), [&](const Source& other) {
        return other.kind == SourceKind::Image && (label || other.sample == source.sample);
      });
  if (image != workload.sources.end()) return {};
  return invalid("/kind",
                 label ? who + " is the label of no image"
                       : who + " is noise on no image: there is none of its shape",
                 "list the image of the same sample as a source");
}

}  // namespace penstock
