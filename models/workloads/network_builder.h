#pragma once

// Appends layers of the kinds in core/workload.h to one trained network, each with the shapes and
// parameters its kind asks for, so that a model's file reads as its architecture:
//
//   NetworkBuilder net("mlp", 32);                         // byte windows of 32
//   LayerId x = net.embedding("embedding", 256, 64, 0.02);
//   x = net.gelu("hidden0.gelu", net.linear("hidden0.linear", x, 64, 0.1));
//   net.cross_entropy("loss", net.linear("head", x, 256, 0.02));
//   Workload w = net.take();
//
// Parameters are named <layer>.weight and <layer>.bias, of an embedding <layer>.tokens and
// <layer>.positions. The weight of a Linear is [in, out]. `deviation` is that of the normal
// distribution its weights start from; biases start at 0.

#include <cstdint>
#include <string>

#include "core/workload.h"

namespace penstock {

class NetworkBuilder {
 public:
  // Sources "tokens" (a window of `sequence` bytes of text) and "targets" (the window one byte
  // further on).
  NetworkBuilder(std::string name, std::int64_t sequence);

  LayerId embedding(std::string name, std::int64_t vocabulary, std::int64_t width,
                    double deviation);
  LayerId layer_norm(std::string name, LayerId input);
  LayerId linear(std::string name, LayerId input, std::int64_t width, double deviation);
  LayerId attention(std::string name, LayerId qkv, std::int64_t heads);
  LayerId gelu(std::string name, LayerId input);
  LayerId add(std::string name, LayerId a, LayerId b);
  LayerId cross_entropy(std::string name, LayerId logits);

  // The workload: one network, one trained store of all its layers, one phase without end.
  Workload take();

 private:
  LayerId append(Layer layer);
  TensorShape shape(std::int64_t width) const { return {DataType::F32, {sequence_, width}}; }
  std::int64_t width(LayerId layer) const;

  std::string name_;
  std::int64_t sequence_;
  Network network_;
};

}  // namespace penstock
