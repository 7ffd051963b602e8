#include "qkv/nn/multi_head_attention.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "nn/heads.h"
#include "nn/require.h"
#include "qkv/heads.h"

namespace qkv {
namespace {

constexpr std::string_view kName = "MultiHeadAttention";

void require_sizes(const MultiHeadOptions& options) {
  nn::require_positive(kName, "d_model", options.d_model);
  nn::require_positive(kName, "heads", options.heads);
  if (!options.d_k && options.d_model % options.heads != 0) {
    throw InvalidArgument(kName, "heads",
                          fmt::format("a divisor of d_model, {}, where d_k is not given", options.d_model),
                          fmt::format("{}", options.heads));
  }
  if (options.kv_heads && (*options.kv_heads < 1 || options.heads % *options.kv_heads != 0)) {
    throw InvalidArgument(kName, "kv_heads", fmt::format("a divisor of heads, {}", options.heads),
                          fmt::format("{}", *options.kv_heads));
  }
  if (options.d_k) nn::require_positive(kName, "d_k", *options.d_k);
  if (options.d_v) nn::require_positive(kName, "d_v", *options.d_v);
  if (options.d_context) nn::require_positive(kName, "d_context", *options.d_context);
}

void require_rotary(const MultiHeadOptions& options, std::int64_t d_k) {
  if (!options.rotary) return;
  static_cast<void>(rotary_frequencies(*options.rotary));
  if (options.rotary->dim > d_k) {
    throw InvalidArgument(kName, "rotary.dim", fmt::format("at most d_k, {}", d_k),
                          fmt::format("{}", options.rotary->dim));
  }
}

// One place for what follows from the options: the extents of the four maps.
struct Sizes {
  explicit Sizes(const MultiHeadOptions& options) {
    require_sizes(options);
    const std::int64_t d_k = options.d_k.value_or(options.d_model / options.heads);
    const std::int64_t kv_heads = options.kv_heads.value_or(options.heads);
    require_rotary(options, d_k);
    d_context = options.d_context.value_or(options.d_model);
    q = options.heads * d_k;
    k = kv_heads * d_k;
    v = kv_heads * options.d_v.value_or(d_k);
    concat = options.heads * options.d_v.value_or(d_k);
  }

  std::int64_t d_context = 0;
  std::int64_t q = 0;
  std::int64_t k = 0;
  std::int64_t v = 0;
  std::int64_t concat = 0;
};

MultiHeadWeights drawn(const MultiHeadOptions& options, Generator& generator, DType dtype) {
  const Sizes sizes(options);
  const auto map = [&](std::int64_t in, std::int64_t out) {
    return Linear({.in = in, .out = out, .bias = options.bias, .dtype = dtype}, generator);
  };
  // Braces: the order of the draws is the order of the members.
  return {.q = map(options.d_model, sizes.q),
          .k = map(sizes.d_context, sizes.k),
          .v = map(sizes.d_context, sizes.v),
          .out = map(sizes.concat, options.d_model)};
}

Tensor positions_or_count(const std::optional<TensorView>& positions, std::int64_t T) {
  if (positions) return Tensor(*positions);
  Tensor counted(DType::i64, {T});
  std::int64_t next = 0;
  for (std::int64_t& position : counted.values<std::int64_t>()) position = next++;
  return counted;
}

// Positions of other lengths would be refused by apply_rotary, but under the name of its tables.
void require_positions(std::string_view argument, const std::optional<TensorView>& positions, const TensorView& x,
                       bool is_rotary) {
  if (!positions) return;
  if (!is_rotary) throw InvalidArgument(kName, argument, "none without rotary", positions->shape().to_string());
  const Shape& shape = positions->shape();
  if (shape == Shape{x.dim(1)} || shape == Shape{x.dim(0), x.dim(1)}) return;
  throw InvalidArgument(kName, argument, fmt::format("[{1}] or [{0}, {1}]", x.dim(0), x.dim(1)), shape.to_string());
}

}  // namespace

/// x [B, Tq, d_model] and context [B, Tk, d_context], with the rotations of their positions.
struct MultiHeadAttention::Inputs {
  TensorView x;
  TensorView context;
  std::optional<nn::RotaryPair> rotary;
};

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, Generator& generator, DType dtype)
    : MultiHeadAttention(options, drawn(options, generator, dtype)) {}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, MultiHeadWeights weights)
    : options_(options), weights_(std::move(weights)) {
  const Sizes sizes(options_);
  nn::require_shape(kName, "weights.q", {sizes.q, options_.d_model}, weights_.q.weight().shape());
  nn::require_shape(kName, "weights.k", {sizes.k, sizes.d_context}, weights_.k.weight().shape());
  nn::require_shape(kName, "weights.v", {sizes.v, sizes.d_context}, weights_.v.weight().shape());
  nn::require_shape(kName, "weights.out", {options_.d_model, sizes.concat}, weights_.out.weight().shape());
}

Tensor MultiHeadAttention::forward(const TensorView& x, const MultiHeadForward& call) const {
  if (call.context_positions) {
    throw InvalidArgument(kName, "context_positions", "none in self-attention",
                          call.context_positions->shape().to_string());
  }
  MultiHeadForward both = call;
  both.context_positions = call.positions;
  return forward_cross(x, x, both);
}

Tensor MultiHeadAttention::forward_cross(const TensorView& x, const TensorView& context,
                                         const MultiHeadForward& call) const {
  nn::require_sequence(kName, "x", options_.d_model, x);
  nn::require_sequence(kName, "context", d_context(), context);
  if (context.rank() != x.rank() || (x.rank() == 3 && context.dim(0) != x.dim(0))) {
    throw InvalidArgument(kName, "context", "the leading axes of x " + x.shape().to_string(),
                          context.shape().to_string());
  }
  if (context.dtype() != x.dtype()) {
    throw InvalidArgument(kName, "context", fmt::format("{} as x", name_of(x.dtype())), name_of(context.dtype()));
  }
  if (x.rank() == 3) return run({.x = x, .context = context, .rotary = std::nullopt}, call);
  return run({.x = x.unsqueeze(0), .context = context.unsqueeze(0), .rotary = std::nullopt}, call).reshaped(x.shape());
}

Tensor MultiHeadAttention::run(const Inputs& inputs, const MultiHeadForward& call) const {
  require_positions("positions", call.positions, inputs.x, options_.rotary.has_value());
  require_positions("context_positions", call.context_positions, inputs.context, options_.rotary.has_value());
  Inputs ready = inputs;
  if (options_.rotary) {
    ready.rotary = {
        .q = rotary_tables(*options_.rotary, positions_or_count(call.positions, inputs.x.dim(1))),
        .k = rotary_tables(*options_.rotary, positions_or_count(call.context_positions, inputs.context.dim(1)))};
  }
  const Tensor concat = call.order == HeadOrder::packed ? packed_heads(ready, call) : heads_one_by_one(ready, call);
  call.taps.put("heads", split_heads(concat, heads()));
  call.taps.put("concat", concat);
  Tensor out = weights_.out.forward(concat);
  call.taps.put("out", out);
  return out;
}

Tensor MultiHeadAttention::packed_heads(const Inputs& inputs, const MultiHeadForward& call) const {
  const Tensor q = weights_.q.forward(inputs.x);
  const Tensor k = weights_.k.forward(inputs.context);
  const Tensor v = weights_.v.forward(inputs.context);
  const nn::Heads split{.q = split_heads(q, heads()), .k = split_heads(k, kv_heads()), .v = split_heads(v, kv_heads())};
  return merge_heads(nn::attend_packed(split, inputs.rotary, call.attention, call.taps));
}

Tensor MultiHeadAttention::heads_one_by_one(const Inputs& inputs, const MultiHeadForward& call) const {
  std::vector<Tensor> outputs;
  for (std::int64_t h = 0; h < heads(); ++h) {
    const std::int64_t kv = h / (heads() / kv_heads());
    const Tensor q = weights_.q.slice(h * d_k(), (h + 1) * d_k()).forward(inputs.x);
    const Tensor k = weights_.k.slice(kv * d_k(), (kv + 1) * d_k()).forward(inputs.context);
    const Tensor v = weights_.v.slice(kv * d_v(), (kv + 1) * d_v()).forward(inputs.context);
    const nn::Heads head{.q = q.view().unsqueeze(1), .k = k.view().unsqueeze(1), .v = v.view().unsqueeze(1)};
    const TapScope taps = call.taps.inner("head").inner(fmt::format("{}", h));
    outputs.push_back(nn::attend_one(head, inputs.rotary, call.attention, {.h = h, .of = heads()}, taps));
    taps.put("out", outputs.back());
  }
  return nn::join_heads(outputs);
}

}  // namespace qkv
