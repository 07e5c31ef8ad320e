#include "profiler/fit_layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace penstock {
namespace {

struct Point {
  double samples, seconds;
};

// min Σ ((base + per_sample·b - t)/t)²: a straight line, weights 1/t².
std::pair<double, double> line(const std::vector<Point>& points) {
  double w = 0, wb = 0, wt = 0, wbb = 0, wbt = 0;
  for (const Point& p : points) {
    const double weight = 1 / (p.seconds * p.seconds);
    w += weight;
    wb += weight * p.samples;
    wt += weight * p.seconds;
    wbb += weight * p.samples * p.samples;
    wbt += weight * p.samples * p.seconds;
  }
  const double slope = (w * wbt - wb * wt) / (w * wbb - wb * wb);
  const double base = (wt - slope * wb) / w;
  if (base < 0) return {0, wbt / wbb};
  return {base, slope};
}

}  // namespace

std::vector<LayerFit> fit_layers(const std::vector<LayerTime>& times) {
  std::map<std::pair<std::string, CostOp>, std::vector<Point>> groups;
  for (const LayerTime& row : times)
    if (row.microbatch > 0 && row.time.median.value > 0)
      groups[{row.signature, row.op}].push_back({static_cast<double>(row.microbatch), seconds(row.time.median)});
  std::vector<LayerFit> out;
  for (auto& [key, points] : groups) {
    if (points.size() < 3) continue;
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.samples < b.samples; });
    LayerFit& fit = out.emplace_back();
    fit.signature = key.first;
    fit.op = key.second;
    fit.least = static_cast<std::int64_t>(points.front().samples);
    fit.most = static_cast<std::int64_t>(points.back().samples);
    const auto [base, slope] = line(points);
    fit.base_s = base;
    fit.per_sample_s = slope;
    for (const Point& p : points)
      fit.worst_relative_error = std::max(fit.worst_relative_error, std::abs((base + slope * p.samples) / p.seconds - 1));
  }
  return out;
}

}  // namespace penstock
