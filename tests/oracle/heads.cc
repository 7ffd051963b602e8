#include "nn/heads.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::nn {
namespace {

struct NamedStage {
  std::string_view name;
  Stage stage;
};

constexpr std::array kNamedStages = {NamedStage{.name = "scores", .stage = Stage::raw},
                                     NamedStage{.name = "scaled", .stage = Stage::scaled},
                                     NamedStage{.name = "softcapped", .stage = Stage::softcapped},
                                     NamedStage{.name = "biased", .stage = Stage::biased},
                                     NamedStage{.name = "masked", .stage = Stage::masked},
                                     NamedStage{.name = "weights", .stage = Stage::weights},
                                     NamedStage{.name = "dropped", .stage = Stage::dropped}};

// A stage that the options leave out would repeat the one before it.
bool happens(Stage stage, const AttentionOptions& options) {
  switch (stage) {
    case Stage::softcapped:
      return options.softcap.has_value();
    case Stage::biased:
      return !options.bias.is_zero();
    case Stage::masked:
      return !options.mask.is_all() || !options.bias.is_zero();
    case Stage::dropped:
      return options.dropout.has_value();
    default:
      return true;
  }
}

void tap_stages(const TensorView& q, const TensorView& k, const AttentionOptions& options, const TapScope& taps) {
  for (const auto& [name, stage] : kNamedStages) {
    if (!happens(stage, options) || !taps.wants(name, Taps::Extent::square)) continue;
    taps.put(name, attention_stage(q, k, options, stage), Taps::Extent::square);
  }
}

// q and k after the rotation, if there is one; `storage` owns the turned ones.
Heads turned(const Heads& heads, const std::optional<RotaryPair>& rotary, const TapScope& taps,
             std::array<Tensor, 2>& storage) {
  taps.put("q", heads.q);
  taps.put("k", heads.k);
  taps.put("v", heads.v);
  if (!rotary) return heads;
  storage = {apply_rotary(heads.q, rotary->q), apply_rotary(heads.k, rotary->k)};
  taps.put("q_rotated", storage[0]);
  taps.put("k_rotated", storage[1]);
  return {.q = storage[0], .k = storage[1], .v = heads.v};
}

Mask mask_of_head(const Mask& mask, const HeadIndex& index) {
  if (!mask.varies_by_head()) return mask;
  return predicate("one head", [mask, index](const Place& place, const MaskShape& shape) {
    return mask.allows({.b = place.b, .h = index.h, .i = place.i, .j = place.j},
                       {.B = shape.B, .H = index.of, .Tq = shape.Tq, .Tk = shape.Tk});
  });
}

// Calls body(b, i, j) for every pair of one head.
template <class Body>
void for_each_pair(const MaskShape& shape, const Body& body) {
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t i = 0; i < shape.Tq; ++i) {
      for (std::int64_t j = 0; j < shape.Tk; ++j) body(b, i, j);
    }
  }
}

Bias bias_of_head(const Bias& bias, const HeadIndex& index, const MaskShape& shape) {
  if (bias.is_zero()) return bias;
  std::vector<double> values;
  for_each_pair(shape, [&](std::int64_t b, std::int64_t i, std::int64_t j) {
    values.push_back(bias.at({.b = b, .h = index.h, .i = i, .j = j}, shape));
  });
  return dense_bias(Tensor(values, {shape.B, 1, shape.Tq, shape.Tk}));
}

void drop(Tensor& weights, const Dropout& dropout, std::int64_t h, const MaskShape& shape) {
  auto weight = weights.values<double>().begin();
  for_each_pair(shape, [&](std::int64_t b, std::int64_t i, std::int64_t j) {
    *weight =
        dropout_keeps(dropout.seed, dropout.p, {.b = b, .h = h, .i = i, .j = j}) ? *weight / (1 - dropout.p) : 0.0;
    ++weight;
  });
}

// weights [B, 1, Tq, Tk] times v [B, 1, Tk, Dv]; what has no weight is not read, so its NaN does not leak.
Tensor weighted_sum(const Tensor& weights, const TensorView& v) {
  const Tensor values(v, DType::f64);
  const auto width = static_cast<std::size_t>(v.dim(3));
  const std::int64_t keys = v.dim(2);
  Tensor sums(DType::f64, {weights.dim(0), 1, weights.dim(2), v.dim(3)});
  const auto weight = weights.values<double>();
  for_each_pair({.B = weights.dim(0), .H = 1, .Tq = weights.dim(2), .Tk = keys}, [&](std::int64_t b, std::int64_t i,
                                                                                     std::int64_t j) {
    const std::int64_t row = b * weights.dim(2) + i;
    const double share = weight[static_cast<std::size_t>(row * keys + j)];
    if (share == 0) return;
    const auto source = values.values<double>().subspan(static_cast<std::size_t>(b * keys + j) * width, width);
    const auto target = sums.values<double>().subspan(static_cast<std::size_t>(row) * width, width);
    for (std::size_t d = 0; d < width; ++d) target[d] += share * source[d];
  });
  return sums.to(v.dtype());
}

}  // namespace

Tensor attend_packed(const Heads& heads, const std::optional<RotaryPair>& rotary, const AttentionOptions& options,
                     const TapScope& taps) {
  std::array<Tensor, 2> storage;
  const Heads ready = turned(heads, rotary, taps, storage);
  tap_stages(ready.q, ready.k, options, taps);
  return attention(ready.q, ready.k, ready.v, options).out;
}

Tensor attend_one(const Heads& head, const std::optional<RotaryPair>& rotary, const AttentionOptions& options,
                  const HeadIndex& index, const TapScope& taps) {
  const MaskShape shape{.B = head.q.dim(0), .H = index.of, .Tq = head.q.dim(2), .Tk = head.k.dim(2)};
  options.mask.validate(shape);
  options.bias.validate(shape);
  std::array<Tensor, 2> storage;
  const Heads ready = turned(head, rotary, taps, storage);
  AttentionOptions own = options;
  own.mask = mask_of_head(options.mask, index);
  own.bias = bias_of_head(options.bias, index, shape);
  Tensor weights = attention_stage(ready.q, ready.k, own, Stage::weights);
  // The operator's dropout would count this head as head 0: it is applied below, by the head's own number.
  own.dropout.reset();
  tap_stages(ready.q, ready.k, own, taps);
  if (options.dropout) {
    drop(weights, *options.dropout, index.h, shape);
    taps.put("dropped", weights, Taps::Extent::square);
  }
  return weighted_sum(weights, ready.v);
}

Tensor join_heads(std::span<const Tensor> outputs) {
  const Tensor& first = outputs.front();
  const std::int64_t T = first.dim(2);
  const std::int64_t Dv = first.dim(3);
  Tensor joined(first.dtype(), {first.dim(0), T, static_cast<std::int64_t>(outputs.size()) * Dv});
  std::vector<double> row(outputs.size() * static_cast<std::size_t>(Dv));
  for (std::int64_t b = 0; b < first.dim(0); ++b) {
    for (std::int64_t t = 0; t < T; ++t) {
      std::span<double> rest = row;
      for (const Tensor& output : outputs) {
        output.view().load_row(std::array{b, std::int64_t{0}, t}, rest.first(static_cast<std::size_t>(Dv)));
        rest = rest.subspan(static_cast<std::size_t>(Dv));
      }
      joined.store_row(std::array{b, t}, row);
    }
  }
  return joined;
}

}  // namespace qkv::nn
