// A residual network for small images, as in He et al. 2016, §4.2 (there: 3 stages, width 16,
// blocks 3, 5, 7, 9 or 18), with projections (their option B) where a block changes shape:
//
//   x = relu(norm(conv(pixels)))                                          stem: width channels
//   per stage s, per block   y = norm(conv(relu(norm(conv(x)))))          width·2^s channels
//                            x = relu(y + x)       where y and x are of one shape, else
//                            x = relu(y + norm(project(x)))               1x1, same stride
//   loss = cross_entropy(head(average over the image(x)), label)
//
// All other convolutions are 3x3 without bias. The first block of every stage but the first halves
// the image (stride 2, rounding up). With C channels in, w = width, S stages, n blocks a stage,
// c = w·2^(S-1) and K classes, trained parameters and statistics together are
//   9·C·w + 4·w                                                           stem
//   Σ_s n·(18·c_s² + 8·c_s)                                               c_s = w·2^s, equal widths
//   + Σ_{s>0} (9·c_s·c_{s-1} - 9·c_s² + c_s·c_{s-1} + 4·c_s)              first blocks, projections
//   + K·(c + 1)                                                           head

#include <fmt/format.h>

#include <array>

#include "models/workloads/built_in.h"
#include "models/workloads/image_network_builder.h"

namespace penstock {
namespace {

constexpr std::array<BuilderParameter, 7> kParameters = {{
    {"stages", 3, 1, 12, "stages, each of half the size and twice the channels of the last"},
    {"blocks", 1, 1, 1'000, "residual blocks a stage"},
    {"width", 16, 1, 100'000, "channels of the first stage"},
    {"size", 32, 1, 100'000, "height and width of the images"},
    {"channels", 3, 1, 1'000, "channels of the images"},
    {"classes", 10, 2, 256, "classes; labels are bytes"},
    {"batch", 32, 1, 1'000'000'000, "samples a step"},
}};

LayerId residual_block(ImageNetworkBuilder& net, const std::string& name, LayerId x,
                       std::int64_t channels, std::int64_t stride) {
  LayerId y = net.conv(name + ".conv1", x, {.channels = channels, .kernel = 3, .stride = stride});
  y = net.relu(name + ".relu1", net.batch_norm(name + ".norm1", y));
  y = net.conv(name + ".conv2", y, {.channels = channels});
  y = net.batch_norm(name + ".norm2", y);
  if (net.dimensions(x) != net.dimensions(y)) {
    x = net.conv(name + ".project", x, {.channels = channels, .kernel = 1, .stride = stride});
    x = net.batch_norm(name + ".project.norm", x);
  }
  return net.relu(name + ".relu2", net.add(name + ".add", x, y));
}

Result<Workload> build(const BuilderValues& values) {
  const auto value = [&](const char* key) { return values.find(key)->second; };
  const std::int64_t stages = value("stages"), size = value("size");
  if (size < std::int64_t{1} << (stages - 1)) {
    return fail(
        ErrorCode::Usage,
        fmt::format("resnet: images of size={} cannot be halved {} times", size, stages - 1),
        "every stage but the first halves the image: fewer stages, or a larger size");
  }
  ImageNetworkBuilder net("resnet", value("channels"), size);
  LayerId x = net.pixels("pixels", ImageInput::Clean);
  x = net.conv("stem.conv", x, {.channels = value("width")});
  x = net.relu("stem.relu", net.batch_norm("stem.norm", x));
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    for (std::int64_t block = 0; block < value("blocks"); ++block) {
      x = residual_block(net, fmt::format("stage{}.block{}", stage, block), x,
                         value("width") << stage, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  x = net.average_pool("pool", x);
  net.cross_entropy("loss", net.linear("head", x, value("classes")));
  Workload workload = net.take();
  workload.optimizer.learning_rate = 0.05;
  workload.optimizer.momentum = 0.9;
  workload.global_batch = value("batch");
  return workload;
}

}  // namespace

WorkloadBuilder resnet_builder() {
  return {"resnet", "residual convolutional network that classifies images", kParameters, build};
}

}  // namespace penstock
