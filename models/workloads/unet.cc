// A small U-Net (Ronneberger, Fischer & Brox 2015) that takes noise out of images:
//
//   double(x, c) = twice relu(norm(conv 3x3 to c channels))
//   x = pixels of the noisy image
//   down, level l = 0 .. levels-1    skip_l = double(x, width·2^l);  x = max_pool 2x2(skip_l)
//   bottom                           x = double(x, width·2^levels)
//   up, level l = levels-1 .. 0      u = conv 3x3(upsample 2(x)) to width·2^l channels, with bias
//                                    x = double(concat(skip_l, u), width·2^l)
//   loss = mean_squared(conv 1x1(x) to the image's channels, the clean image)
//
// Unlike there, convolutions are padded (the output is as large as the input) and normalised. Each
// skip crosses all that lies between its level's two halves: on several stages it skips stages.

#include <fmt/format.h>

#include <array>
#include <vector>

#include "models/workloads/built_in.h"
#include "models/workloads/image_network_builder.h"

namespace penstock {
namespace {

constexpr std::array<BuilderParameter, 5> kParameters = {{
    {"levels", 2, 1, 12, "times the image is halved"},
    {"width", 8, 1, 100'000, "channels at full size, doubled at every level"},
    {"size", 32, 2, 100'000, "height and width of the images, a multiple of 2^levels"},
    {"channels", 3, 1, 1'000, "channels of the images"},
    {"batch", 16, 1, 1'000'000'000, "samples a step"},
}};

LayerId double_conv(ImageNetworkBuilder& net, const std::string& name, LayerId x,
                    std::int64_t channels) {
  for (const char* part : {"1", "2"}) {
    x = net.conv(name + ".conv" + part, x, {.channels = channels});
    x = net.relu(name + ".relu" + part, net.batch_norm(name + ".norm" + part, x));
  }
  return x;
}

Result<Workload> build(const BuilderValues& values) {
  const auto value = [&](const char* key) { return values.find(key)->second; };
  const std::int64_t levels = value("levels"), size = value("size"), width = value("width");
  if (size % (std::int64_t{1} << levels) != 0) {
    return fail(
        ErrorCode::Usage,
        fmt::format("unet: images of size={} cannot be halved evenly {} times", size, levels),
        fmt::format("with levels={} the size is a multiple of {}", levels, 1 << levels));
  }
  ImageNetworkBuilder net("unet", value("channels"), size);
  LayerId x = net.pixels("pixels", ImageInput::Noisy);
  std::vector<LayerId> skips;
  for (std::int64_t level = 0; level < levels; ++level) {
    skips.push_back(double_conv(net, fmt::format("down{}", level), x, width << level));
    x = net.max_pool(fmt::format("down{}.pool", level), skips.back(), 2);
  }
  x = double_conv(net, "bottom", x, width << levels);
  for (std::int64_t level = levels - 1; level >= 0; --level) {
    const std::string name = fmt::format("up{}", level);
    x = net.upsample(name + ".upsample", x, 2);
    x = net.conv(name + ".conv", x, {.channels = width << level, .bias = true});
    x = net.concat(name + ".concat", {skips[static_cast<std::size_t>(level)], x});
    x = double_conv(net, name, x, width << level);
  }
  x = net.conv("head", x, {.channels = value("channels"), .kernel = 1, .bias = true});
  net.mean_squared("loss", x);
  Workload workload = net.take();
  workload.optimizer.learning_rate = 0.1;
  workload.optimizer.momentum = 0.9;
  workload.global_batch = value("batch");
  return workload;
}

}  // namespace

WorkloadBuilder unet_builder() {
  return {"unet", "U-Net that takes noise out of images, with skips across the whole network",
          kParameters, build};
}

}  // namespace penstock
