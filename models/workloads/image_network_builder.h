#pragma once

// Appends layers that work on images [channels, height, width] to one trained network, each with
// the shapes and parameters its kind asks for (core/workload.h), so that a model's file reads as
// its architecture:
//
//   ImageNetworkBuilder net("tiny", 3, 32);                     // images of 3 channels, 32 x 32
//   LayerId x = net.pixels("pixels", ImageInput::Clean);
//   x = net.relu("relu", net.batch_norm("norm", net.conv("conv", x, {.channels = 16})));
//   net.cross_entropy("loss", net.linear("head", net.average_pool("pool", x), 10));
//   Workload w = net.take();
//
// Parameters are named <layer>.weight and <layer>.bias, the statistics of a BatchNorm <layer>.mean
// and <layer>.variance. Weights of convolutions start normal with deviation sqrt(2 / (C·kernel²)),
// C channels in (He et al. 2015, for rectifiers), of a Linear with sqrt(1 / in); biases start at 0.

#include <cstdint>
#include <string>
#include <vector>

#include "core/workload.h"

namespace penstock {

enum class ImageInput : std::uint8_t { Clean, Noisy };

// What a convolution is beside its input. By default it keeps height and width; kernel 1 does too.
struct Convolution {
  std::int64_t channels = 1;  // out
  std::int64_t kernel = 3;    // odd: the padding is (kernel - 1) / 2
  std::int64_t stride = 1;
  bool bias = false;  // a BatchNorm behind it would take it away again
};

class ImageNetworkBuilder {
 public:
  ImageNetworkBuilder(std::string name, std::int64_t channels, std::int64_t size);

  LayerId pixels(std::string name, ImageInput input);
  LayerId conv(std::string name, LayerId input, const Convolution& convolution);
  LayerId batch_norm(std::string name, LayerId input);
  LayerId relu(std::string name, LayerId input);
  LayerId add(std::string name, LayerId a, LayerId b);
  LayerId max_pool(std::string name, LayerId input, std::int64_t kernel);  // stride = kernel
  LayerId average_pool(std::string name, LayerId input);
  LayerId upsample(std::string name, LayerId input, std::int64_t factor);
  LayerId concat(std::string name, std::vector<LayerId> inputs);
  LayerId linear(std::string name, LayerId input, std::int64_t width);  // of [in]
  LayerId cross_entropy(std::string name, LayerId logits);              // against the label
  LayerId mean_squared(std::string name, LayerId prediction);           // against the clean image

  const std::vector<std::int64_t>& dimensions(LayerId layer) const;

  // The workload: one network, one trained store of all its layers, one phase without end, and of
  // the sources "image", "noisy" and "label" the first and those that are read.
  Workload take();

 private:
  LayerId append(std::string name, LayerKind kind, std::vector<LayerId> inputs,
                 std::vector<std::int64_t> output);
  Layer& last() { return network_.layers.back(); }
  SourceId source(SourceKind kind);

  std::string name_;
  TensorShape image_;
  Network network_;
  std::vector<Source> sources_;
};

}  // namespace penstock
