// What another program computed of a model, held against ours.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "qkv/model/model.h"
#include "qkv/nn/trace.h"
#include "qkv/safetensors.h"

namespace qkv::tests {

inline constexpr double kNear = 1e-4;

inline double largest_difference(const TensorView& a, const TensorView& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double most = left.size() == right.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n < std::min(left.size(), right.size()); ++n) {
    const double difference = std::fabs(left[n] - right[n]);
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
  }
  return most;
}

// What the model read.
class Inputs {
 public:
  explicit Inputs(const Safetensors& file) {
    if (file.contains("ids")) ids_ = file.load("ids");
    if (file.contains("types")) types_ = file.load("types");
    if (file.contains("images")) images_ = file.load("images");
    if (file.contains("sounds")) sounds_ = file.load("sounds");
    if (!file.contains("source")) return;
    source_ = file.load("source");
    for (const double length : file.load("lengths").to_vector()) lengths_.push_back(static_cast<std::int64_t>(length));
  }

  [[nodiscard]] ModelInput all() const {
    return {.ids = ids_,
            .types = types_,
            .source = source_,
            .source_lengths = lengths_,
            .images = images_,
            .sounds = sounds_};
  }
  // What it writes on from: an encoder-decoder begins by itself.
  [[nodiscard]] ModelInput to_write_from() const {
    ModelInput input = all();
    if (!source_.empty() || !sounds_.empty()) input.ids = {};
    return input;
  }

 private:
  Tensor ids_;
  Tensor types_;
  Tensor source_;
  Tensor images_;
  Tensor sounds_;
  std::vector<std::int64_t> lengths_;
};

// A stack of a model: its name in a trace, its words in what was expected, and the name of its attention.
struct Site {
  std::string stack;
  std::string hidden;
  std::string weights;
  std::string part = "attn";
  bool is_normed = true;  // the last hidden state
};

inline void expect_site(const Trace& trace, const Safetensors& wanted, const Site& site) {
  std::int64_t layers = 0;
  for (; wanted.contains(site.weights + std::to_string(layers)); ++layers) {
    const std::string n = std::to_string(layers);
    const std::string block = site.stack + "blocks." + n + ".";
    EXPECT_LT(largest_difference(trace[block + site.part + ".weights"], wanted.load(site.weights + n)), kNear) << block;
    if (site.part == "cross") continue;
    EXPECT_LT(largest_difference(trace[block + "resid_pre"], wanted.load(site.hidden + n)), kNear) << block;
  }
  EXPECT_GT(layers, 0) << site.weights;
  if (site.part == "cross") return;
  const std::string last = site.is_normed && trace.contains(site.stack + "ln_final")
                               ? site.stack + "ln_final"
                               : site.stack + "blocks." + std::to_string(layers - 1) + ".resid_post";
  EXPECT_LT(largest_difference(trace[last], wanted.load(site.hidden + std::to_string(layers))), kNear) << last;
}

}  // namespace qkv::tests
