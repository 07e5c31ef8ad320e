#include "exec/cpu/kernels/kernel_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace penstock::cpu {

tl::unexpected<Error> refuse(const KernelRequest& request, const std::string& what) {
  return fail(ErrorCode::BadInput, fmt::format("layer \"{}\": {}", request.layer.name, what),
              "check the workload file against the table of layer kinds in docs/formats");
}

Result<void> expect_operands(const KernelRequest& request, std::size_t inputs, std::size_t sources,
                             std::initializer_list<std::vector<std::int64_t>> parameters) {
  const Layer& layer = request.layer;
  if (request.inputs.size() != inputs) {
    return refuse(request,
                  fmt::format("has {} inputs, its kind takes {}", request.inputs.size(), inputs));
  }
  if (layer.sources.size() != sources) {
    return refuse(request, fmt::format("has {} data sources, its kind takes {}", layer.sources.size(),
                                     sources));
  }
  for (const TensorShape& shape : request.inputs) {
    if (shape.type != DataType::F32 || shape.dimensions.empty()) {
      return refuse(request, "takes f32 inputs of at least one dimension");
    }
  }
  if (layer.parameters.size() != parameters.size()) {
    return refuse(request, fmt::format("has {} parameters, its kind takes {}",
                                     layer.parameters.size(), parameters.size()));
  }
  auto parameter = layer.parameters.begin();
  for (const std::vector<std::int64_t>& expected : parameters) {
    if (parameter->dimensions != expected) {
      return refuse(request,
                    fmt::format("parameter \"{}\" is [{}], expected [{}]", parameter->name,
                                fmt::join(parameter->dimensions, ", "), fmt::join(expected, ", ")));
    }
    ++parameter;
  }
  return {};
}

Result<void> expect_output(const KernelRequest& request,
                           const std::vector<std::int64_t>& expected) {
  const std::vector<std::int64_t>& output = request.layer.output.dimensions;
  if (output == expected) return {};
  return refuse(request, fmt::format("its output is [{}], expected [{}]", fmt::join(output, ", "),
                                     fmt::join(expected, ", ")));
}

std::int64_t features(const TensorShape& shape) {
  PENSTOCK_CHECK(!shape.dimensions.empty(),
                 "a tensor of a layer kernel has at least one dimension");
  return shape.dimensions.back();
}

std::int64_t rows(const TensorShape& shape, std::int64_t microbatch) {
  return microbatch * (shape.elements() / features(shape));
}

Result<Image> image(const KernelRequest& request, std::size_t input) {
  if (input >= request.inputs.size()) {
    return refuse(request, fmt::format("has {} inputs, its kind takes {}", request.inputs.size(),
                                       input + 1));
  }
  const std::vector<std::int64_t>& dimensions = request.inputs[input].dimensions;
  if (dimensions.size() != 3) {
    return refuse(request, fmt::format("reads [{}], its kind reads [channels, height, width]",
                                       fmt::join(dimensions, ", ")));
  }
  return Image{dimensions[0], dimensions[1], dimensions[2]};
}

Result<Window> window(const KernelRequest& request, const Image& image) {
  Window result;
  PENSTOCK_TRY(result.kernel, attribute(request, "kernel", 1));
  PENSTOCK_TRY(result.stride, attribute(request, "stride", 1));
  PENSTOCK_TRY(result.padding, attribute(request, "padding", 0));
  const std::int64_t smallest = std::min(image.height, image.width);
  if (smallest + 2 * result.padding < result.kernel) {
    return refuse(request,
                  fmt::format("a kernel of {} does not fit into {}x{} pixels with padding {}",
                              result.kernel, image.height, image.width, result.padding));
  }
  return result;
}

Result<std::int64_t> attribute(const KernelRequest& request, const char* name, std::int64_t least) {
  const auto found = request.layer.attributes.find(name);
  if (found == request.layer.attributes.end())
    return refuse(request, fmt::format("has no attribute \"{}\"", name));
  if (found->second < least) {
    return refuse(request, fmt::format("its attribute \"{}\" is {}, expected at least {}", name,
                                       found->second, least));
  }
  return found->second;
}

}  // namespace penstock::cpu
