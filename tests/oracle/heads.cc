#include "oracle/heads.h"

#include <array>
#include <vector>

namespace qkv::oracle {
namespace {

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

Tensor attend_one(const Head& head, const AttentionOptions& options, const HeadIndex& index) {
  const MaskShape shape{.B = head.q.dim(0), .H = index.of, .Tq = head.q.dim(2), .Tk = head.k.dim(2)};
  options.mask.validate(shape);
  options.bias.validate(shape);
  AttentionOptions own = options;
  own.mask = mask_of_head(options.mask, index);
  own.bias = bias_of_head(options.bias, index, shape);
  if (!options.sinks.empty()) own.sinks = {options.sinks[static_cast<std::size_t>(index.h)]};
  // The operator's dropout would count this head as head 0: it is applied below, by the head's own number.
  own.dropout.reset();
  Tensor weights = attention_stage(head.q, head.k, own, Stage::weights);
  if (options.dropout) drop(weights, *options.dropout, index.h, shape);
  return weighted_sum(weights, head.v);
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

}  // namespace qkv::oracle
