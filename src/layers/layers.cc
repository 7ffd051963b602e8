#include "qkv/layers/layers.h"

#include <utility>

#include "layers/named.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/shape.h"

namespace qkv::learn {
namespace {

Variable parameter_of(const std::optional<Tensor>& value) { return value ? Variable::parameter(*value) : Variable(); }

std::optional<Tensor> frozen_value(const Variable& parameter) {
  return parameter.empty() ? std::nullopt : std::optional<Tensor>(parameter.value());
}

Variable activated(Activation activation, const Variable& x) {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::relu:
      return relu(x);
  }
  __builtin_unreachable();
}

template <class T>
void scale_by(Tensor& table, double factor) {
  for (T& value : table.values<T>()) value *= static_cast<T>(factor);
}

// Trained tables are f32; f64 is for checks.
Tensor scaled_table(std::int64_t count, std::int64_t width, Generator& generator, double deviation, DType dtype) {
  if (!(deviation > 0)) throw InvalidArgument("Embedding", "deviation", "more than 0", std::to_string(deviation));
  if (dtype != DType::f32 && dtype != DType::f64) {
    throw InvalidArgument("Embedding", "dtype", "f32 or f64", name_of(dtype));
  }
  Tensor table = qkv::Embedding(count, width, generator, dtype).table();
  if (dtype == DType::f32) {
    scale_by<float>(table, deviation);
  } else {
    scale_by<double>(table, deviation);
  }
  return table;
}

const std::optional<Tensor>& weight_of(const qkv::Norm& norm) {
  if (const auto* layer = std::get_if<qkv::LayerNorm>(&norm)) return layer->options().weight;
  return std::get<qkv::RMSNorm>(norm).options().weight;
}

Variable norm_weight(const qkv::Norm& norm) {
  const Shape& width = normalized_of(norm);
  if (width.rank() != 1) throw InvalidArgument("Norm", "normalized", "one axis", width.to_string());
  if (weight_of(norm)) return Variable::parameter(*weight_of(norm));
  return Variable::parameter(Tensor(std::vector<float>(static_cast<std::size_t>(width[0]), 1.0F), width));
}

Variable norm_bias(const qkv::Norm& norm, const Variable& weight) {
  const auto* layer = std::get_if<qkv::LayerNorm>(&norm);
  if (layer == nullptr) return {};
  return Variable::parameter(layer->options().bias ? *layer->options().bias : Tensor(weight.dtype(), weight.shape()));
}

double epsilon_of(const qkv::Norm& norm) {
  return std::visit([](const auto& any) { return any.options().epsilon; }, norm);
}

}  // namespace

Linear::Linear(const qkv::Linear& layer)
    : weight_(Variable::parameter(layer.weight())), bias_(parameter_of(layer.bias())) {}

Variable Linear::forward(const Variable& x) const {
  return bias_.empty() ? linear(x, weight_) : linear(x, weight_, bias_);
}

Parameters Linear::parameters() const {
  Parameters all = {{"weight", weight_}};
  if (!bias_.empty()) all.push_back({"bias", bias_});
  return all;
}

qkv::Linear Linear::frozen() const { return qkv::Linear(Tensor(weight_.value()), frozen_value(bias_)); }

Norm::Norm(const qkv::Norm& norm)
    : weight_(norm_weight(norm)), bias_(norm_bias(norm, weight_)), epsilon_(epsilon_of(norm)) {}

Variable Norm::forward(const Variable& x) const {
  return bias_.empty() ? rms_norm(x, weight_, epsilon_) : layer_norm(x, weight_, bias_, epsilon_);
}

Parameters Norm::parameters() const {
  Parameters all = {{"weight", weight_}};
  if (!bias_.empty()) all.push_back({"bias", bias_});
  return all;
}

qkv::Norm Norm::frozen() const {
  if (bias_.empty()) {
    return RMSNorm({.normalized = weight_.shape(), .epsilon = epsilon_, .weight = Tensor(weight_.value())});
  }
  return LayerNorm({.normalized = weight_.shape(),
                    .epsilon = epsilon_,
                    .weight = Tensor(weight_.value()),
                    .bias = Tensor(bias_.value())});
}

Embedding::Embedding(const qkv::Embedding& layer) : weight_(Variable::parameter(layer.table())) {}

Embedding::Embedding(std::int64_t count, std::int64_t width, Generator& generator, double deviation, DType dtype)
    : weight_(Variable::parameter(scaled_table(count, width, generator, deviation, dtype))) {}

Variable Embedding::forward(const TensorView& ids, DType dtype) const { return cast(embedding(weight_, ids), dtype); }

Variable Embedding::logits(const Variable& x) const { return linear(x, weight_); }

Parameters Embedding::parameters() const { return {{"weight", weight_}}; }

qkv::Embedding Embedding::frozen() const { return qkv::Embedding(Tensor(weight_.value())); }

FeedForward::FeedForward(const qkv::FeedForward& layer)
    : up_(layer.up()), down_(layer.down()), activation_(layer.activation()) {}

Variable FeedForward::forward(const Variable& x) const {
  const Variable wide = activated(activation_, named("up", [&] { return up_.forward(x); }));
  return named("down", [&] { return down_.forward(wide); });
}

Parameters FeedForward::parameters() const {
  Parameters all;
  append(all, "up", up_.parameters());
  append(all, "down", down_.parameters());
  return all;
}

qkv::FeedForward FeedForward::frozen() const { return {up_.frozen(), down_.frozen(), activation_}; }

MultiHeadAttention::MultiHeadAttention(const qkv::MultiHeadAttention& layer)
    : options_(layer.options()),
      q_(layer.weights().q),
      k_(layer.weights().k),
      v_(layer.weights().v),
      out_(layer.weights().out) {}

Variable MultiHeadAttention::attend(const Variable& x, const Variable& context, const MultiHeadCall& call,
                                    const std::optional<RotaryTables>& tables) const {
  const std::int64_t kv_heads = options_.kv_heads.value_or(options_.heads);
  Variable q = split_heads(named("q", [&] { return q_.forward(x); }), options_.heads);
  Variable k = split_heads(named("k", [&] { return k_.forward(context); }), kv_heads);
  const Variable v = split_heads(named("v", [&] { return v_.forward(context); }), kv_heads);
  if (tables) {
    q = rotary(q, *tables);
    k = rotary(k, *tables);
  }
  const Variable merged = merge_heads(attention(q, k, v, call.attention, call.learned));
  return named("out", [&] { return out_.forward(merged); });
}

Variable MultiHeadAttention::forward(const Variable& x, const MultiHeadCall& call) const {
  if (x.rank() != 3) {
    throw InvalidArgument("MultiHeadAttention", "x", "[B, T, d_model]", x.shape().to_string());
  }
  if (!options_.rotary) {
    if (!call.positions) return attend(x, x, call, std::nullopt);
    throw InvalidArgument("MultiHeadAttention", "positions", "none without rotary",
                          call.positions->shape().to_string());
  }
  return attend(
      x, x, call,
      call.positions ? rotary_tables(*options_.rotary, *call.positions) : rotary_tables(*options_.rotary, x.dim(1)));
}

Variable MultiHeadAttention::forward_cross(const Variable& x, const Variable& context,
                                           const MultiHeadCall& call) const {
  if (x.rank() != 3) {
    throw InvalidArgument("MultiHeadAttention", "x", "[B, T, d_model]", x.shape().to_string());
  }
  if (context.rank() != 3) {
    throw InvalidArgument("MultiHeadAttention", "context", "[B, Tk, d_context]", context.shape().to_string());
  }
  return attend(x, context, call, std::nullopt);
}

Parameters MultiHeadAttention::parameters() const {
  Parameters all;
  append(all, "q", q_.parameters());
  append(all, "k", k_.parameters());
  append(all, "v", v_.parameters());
  append(all, "out", out_.parameters());
  return all;
}

qkv::MultiHeadAttention MultiHeadAttention::frozen() const {
  return {options_, {.q = q_.frozen(), .k = k_.frozen(), .v = v_.frozen(), .out = out_.frozen()}};
}

}  // namespace qkv::learn
