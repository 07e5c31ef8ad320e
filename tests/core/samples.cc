#include "tests/core/samples.h"

namespace penstock::test {
namespace {

Layer make_layer(std::string name, LayerKind kind, std::initializer_list<int> inputs,
                 std::vector<std::int64_t> output, std::vector<Parameter> parameters = {}) {
  Layer layer;
  layer.name = std::move(name);
  layer.kind = kind;
  layer.inputs = layer_ids(inputs);
  layer.output = {DataType::F32, std::move(output)};
  layer.parameters = std::move(parameters);
  return layer;
}

}  // namespace

std::vector<LayerId> layer_ids(std::initializer_list<int> ids) {
  std::vector<LayerId> out;
  for (const int id : ids) out.emplace_back(id);
  return out;
}

Workload sample_workload() {
  constexpr auto Normal = Initializer::Normal;
  Network net{"tiny", {}};
  net.layers.push_back(make_layer(
      "embed", LayerKind::Embedding, {}, {4, 6},
      {{"embed.tokens", {256, 6}, Normal, 0.02}, {"embed.positions", {4, 6}, Normal, 0.02}}));
  net.layers.back().sources = {SourceId(0)};
  net.layers.push_back(
      make_layer("norm", LayerKind::LayerNorm, {0}, {4, 6},
                 {{"norm.weight", {6}, Initializer::Ones, 0}, {"norm.bias", {6}}}));
  net.layers.push_back(make_layer("qkv", LayerKind::Linear, {1}, {4, 18},
                                  {{"qkv.weight", {6, 18}, Normal, 0.1}, {"qkv.bias", {18}}}));
  net.layers.push_back(make_layer("attention", LayerKind::Attention, {2}, {4, 6}));
  net.layers.back().attributes = {{"heads", 2}};
  net.layers.push_back(make_layer("residual", LayerKind::Add, {0, 3}, {4, 6}));
  net.layers.push_back(make_layer("gelu", LayerKind::Gelu, {4}, {4, 6}));
  net.layers.push_back(make_layer("head", LayerKind::Linear, {5}, {4, 256},
                                  {{"head.weight", {6, 256}, Normal, 0.1}, {"head.bias", {256}}}));
  net.layers.push_back(make_layer("loss", LayerKind::CrossEntropy, {6}, {}));
  net.layers.back().sources = {SourceId(1)};

  Workload out;
  out.name = "tiny";
  out.networks = {std::move(net)};
  Store weights;
  weights.name = "weights";
  weights.network = NetworkId(0);
  out.stores = {weights};
  out.sources = {{"tokens", SourceKind::Text, {DataType::Byte, {4}}},
                 {"targets", SourceKind::NextText, {DataType::Byte, {4}}}};
  out.phases = {{"training", 0, ""}};
  out.global_batch = 8;
  return out;
}

Workload sample_image_workload() {
  constexpr auto Normal = Initializer::Normal;
  constexpr auto Statistic = ParameterRole::Statistic;
  Network net{"tiny", {}};
  net.layers.push_back(make_layer("pixels", LayerKind::Pixels, {}, {2, 4, 6}));
  net.layers.back().sources = {SourceId(0)};
  net.layers.push_back(make_layer("conv", LayerKind::Conv2d, {0}, {3, 2, 3},
                                  {{"conv.weight", {3, 2, 3, 3}, Normal, 0.3}, {"conv.bias", {3}}}));
  net.layers.back().attributes = {{"kernel", 3}, {"stride", 2}, {"padding", 1}};
  net.layers.push_back(make_layer("norm", LayerKind::BatchNorm, {1}, {3, 2, 3},
                                  {{"norm.weight", {3}, Initializer::Ones, 0},
                                   {"norm.bias", {3}},
                                   {"norm.mean", {3}, Initializer::Zeros, 0, Statistic},
                                   {"norm.variance", {3}, Initializer::Ones, 0, Statistic}}));
  net.layers.push_back(make_layer("relu", LayerKind::Relu, {2}, {3, 2, 3}));
  net.layers.push_back(make_layer("upsample", LayerKind::Upsample, {3}, {3, 4, 6}));
  net.layers.back().attributes = {{"factor", 2}};
  net.layers.push_back(make_layer("concat", LayerKind::Concat, {0, 4}, {5, 4, 6}));
  net.layers.push_back(make_layer("pool", LayerKind::MaxPool, {5}, {5, 2, 3}));
  net.layers.back().attributes = {{"kernel", 2}, {"stride", 2}, {"padding", 0}};
  net.layers.push_back(make_layer("average", LayerKind::AveragePool, {6}, {5}));
  net.layers.push_back(make_layer("head", LayerKind::Linear, {7}, {4},
                                  {{"head.weight", {5, 4}, Normal, 0.4}, {"head.bias", {4}}}));
  net.layers.push_back(make_layer("loss", LayerKind::CrossEntropy, {8}, {}));
  net.layers.back().sources = {SourceId(1)};

  Workload out = sample_workload();
  out.name = "tiny images";
  out.networks = {std::move(net)};
  out.sources = {{"image", SourceKind::Image, {DataType::Byte, {2, 4, 6}}},
                 {"label", SourceKind::Label, {DataType::Byte, {}}}};
  return out;
}

Workload sample_distillation() {
  Workload out = sample_workload();
  out.name = "distillation";
  out.networks[0].name = "student";
  Network teacher{"teacher", {}};
  teacher.layers.push_back(
      make_layer("block", LayerKind::Opaque, {}, {4, 256}, {{"block.weight", {10, 10}}}));
  teacher.layers.back().sources = {SourceId(0)};
  out.networks.push_back(teacher);
  Store average = out.stores[0], frozen = out.stores[0];
  average.name = "average";
  average.kind = StoreKind::Ema;
  average.of = StoreId(0);
  average.decay = 0.999;
  average.refresh_period = 2;
  average.refresh_latency = 1;
  average.layers = layer_ids({0, 6});
  frozen.name = "teacher";
  frozen.network = NetworkId(1);
  frozen.kind = StoreKind::Frozen;
  out.stores.push_back(average);
  out.stores.push_back(frozen);
  out.hyper_period = 4;
  out.tasks = {{"teach", TaskKind::ForwardNoGrad, NetworkId(1), {}, StoreId(2), 2, 1},
               {"learn", TaskKind::Forward, NetworkId(0), layer_ids({0, 1}), StoreId(), 1, 0},
               {"average", TaskKind::Ema, NetworkId(0), {}, StoreId(1), 4, 3}};
  out.edges = {{TaskId(0), TaskId(1), DependencyKind::Data, 0, 0},
               {TaskId(2), TaskId(1), DependencyKind::State, 1, 2}};
  out.phases = {{"imitate", 100, "keep"}, {"refine", 0, ""}};
  out.optimizer.momentum = 0;
  return out;
}

Cluster sample_cluster() {
  Cluster out;
  out.name = "two hosts";
  out.hosts = {{"a"}, {"b"}};
  const auto device = [](std::string name, int host) {
    return Device{
        std::move(name),         HostId(host),         "v100", Bytes(std::int64_t{16} << 30),
        FlopsPerSecond(15.7e12), BytesPerSecond(900e9)};
  };
  out.devices = {device("a0", 0), device("a1", 0), device("b0", 1)};
  out.links = {
      {"a", {DeviceId(0), DeviceId(1)}, Nanoseconds(2000), BytesPerSecond(25e9), Sharing::None},
      {"network",
       {DeviceId(1), DeviceId(2)},
       Nanoseconds(5000),
       BytesPerSecond(1.25e9),
       Sharing::Shared}};
  return out;
}

Profile sample_profile() {
  Profile out;
  const Workload workload = sample_workload();
  out.workload = workload.name;
  out.workload_fingerprint = cost_fingerprint(workload);
  out.device_kind = "cpu";
  out.machine = {"Some CPU (6/85/7)", 2, "avx512", Bytes(std::int64_t{8} << 30),
                 "penstock 0.1.0, g++ 12.2.0"};
  out.load_average = 0.25;
  const Spread spread{31,
                      Nanoseconds(990),
                      Nanoseconds(1000),
                      Nanoseconds(1010),
                      Nanoseconds(1100),
                      Nanoseconds(9)};
  const std::string head = signature(workload, workload.networks[0], LayerId(6));
  out.times = {
      {head, CostOp::F, 1, spread}, {head, CostOp::F, 2, spread}, {head, CostOp::Step, 0, spread}};
  out.memory = {{head, 1, Bytes(7168), Bytes(128), Bytes(4096), Bytes(0)}};
  out.links = {{"thread", Bytes(64), spread}};
  LinkTime busy{"thread", Bytes(64), spread};
  busy.traffic = Traffic::BothWays;
  busy.pairs = 2;
  out.links.push_back(busy);
  out.contention = {{WorkClass::Memory, WorkClass::Copy, Bytes(4096), spread, spread, 1.25}};
  out.private_cache = Bytes(1 << 20);
  out.stages = {{CostOp::BF, 4, Nanoseconds(1000), spread}};
  out.fits = {{head, CostOp::F, 1e-6, 2.5e-7, 1, 8, 0.03}};
  out.drift = -0.015625;
  out.warnings = {"the machine was busy"};
  return out;
}

Plan sample_plan() {
  Plan out;
  out.workload = sample_workload();
  out.cluster = sample_cluster();
  out.strategy = "penstock";
  out.schedule = {"1f1b", {{"chunks", "1"}}};
  out.microbatch_size = 2;
  out.microbatches = 4;
  for (int s = 0; s < 2; ++s) {
    PlanStage stage;
    stage.layers = s == 0 ? layer_ids({0, 1, 2, 3}) : layer_ids({4, 5, 6, 7});
    stage.devices = {RankId(s)};
    stage.times = {Nanoseconds(10),  Nanoseconds(1000), Nanoseconds(s), Nanoseconds(900),
                   Nanoseconds(800), Nanoseconds(0),    Nanoseconds(70)};
    stage.memory = {Bytes(6464), Bytes(6464), Bytes(6464), Bytes(1024), Bytes(64), Bytes(512)};
    out.stages.push_back(stage);
    out.devices.push_back(
        {RankId(s), DeviceId(s + 1), Bytes(30000), Bytes(std::int64_t{16} << 30)});
  }
  out.stages[0].recompute = layer_ids({1, 3});
  out.edges = {{StageId(0), StageId(1), layer_ids({0, 3}), Bytes(2 * 192), Nanoseconds(5307),
                Nanoseconds(5307)}};
  out.costs = "derived";
  out.contention = Contention{.slowdown = {{{1, 1.25, 1}, {1.0625, 1.5, 1.375}, {1, 1.5, 2}}}, .cores = 2, .private_cache = Bytes(1 << 20), .memory_bandwidth = BytesPerSecond(1.5e10)};
  out.iteration_time_s = 1.5e-5;
  out.throughput_samples_per_s = 8 / 1.5e-5;
  out.certificate = {"iteration_time",
                     "s",
                     1.5e-5,
                     1.2e-5,
                     0.2,
                     {{"work", 1.2e-5}, {"longest layer", 1e-5}},
                     "contiguous stages on up to 2 ranks",
                     "work of stage 0",
                     std::nullopt};
  return out;
}

}  // namespace penstock::test
