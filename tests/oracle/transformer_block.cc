#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "nn/elementwise.h"
#include "nn/require.h"
#include "qkv/nn/transformer.h"

namespace qkv {
namespace {

constexpr std::string_view kName = "TransformerBlock";

Norm fresh_norm(const BlockOptions& options, DType dtype) {
  const Shape width{options.attention.d_model};
  const Tensor ones = nn::map(Tensor(dtype, width), [](double) { return 1.0; });
  if (options.norm == NormKind::rms) {
    return RMSNorm({.normalized = width, .epsilon = options.epsilon, .weight = ones});
  }
  return LayerNorm({.normalized = width, .epsilon = options.epsilon, .weight = ones, .bias = Tensor(dtype, width)});
}

MultiHeadOptions cross_options(const BlockOptions& options) {
  MultiHeadOptions cross = options.attention;
  cross.d_context = options.d_context;
  cross.rotary.reset();
  return cross;
}

BlockParts drawn(const BlockOptions& options, Generator& generator, DType dtype) {
  MultiHeadAttention attention(options.attention, generator, dtype);
  std::optional<MultiHeadAttention> cross;
  if (options.d_context) cross.emplace(cross_options(options), generator, dtype);
  FeedForward feed_forward({.d_model = options.attention.d_model,
                            .d_ff = options.d_ff,
                            .activation = options.activation,
                            .bias = options.feed_forward_bias.value_or(options.attention.bias),
                            .dtype = dtype},
                           generator);
  const Norm norm = fresh_norm(options, dtype);
  return {.ln1 = norm,
          .attention = std::move(attention),
          .ln_cross = cross ? std::optional<Norm>(norm) : std::nullopt,
          .cross = std::move(cross),
          .ln2 = norm,
          .feed_forward = std::move(feed_forward)};
}

void require_model_width(std::string_view part, std::int64_t d_model, std::int64_t got) {
  if (got != d_model) {
    throw InvalidArgument(kName, part, fmt::format("a width of d_model, {}", d_model), fmt::format("{}", got));
  }
}

struct Step {
  std::string_view norm;
  std::string_view sum;
};

// One sublayer with its norm and its residual sum, in either order.
template <class Sublayer>
Tensor with_residual(const TensorView& x, NormOrder order, const Norm& norm, const Step& step, const TapScope& taps,
                     const Sublayer& sublayer) {
  if (order == NormOrder::pre) {
    const Tensor normed = normalize(norm, x);
    taps.put(step.norm, normed);
    Tensor sum = nn::add(x, sublayer(normed));
    taps.put(step.sum, sum);
    return sum;
  }
  const Tensor sum = nn::add(x, sublayer(x));
  taps.put(step.sum, sum);
  Tensor normed = normalize(norm, sum);
  taps.put(step.norm, normed);
  return normed;
}

}  // namespace

std::string_view name_of(NormOrder order) noexcept { return order == NormOrder::pre ? "pre" : "post"; }

TransformerBlock::TransformerBlock(const BlockOptions& options, Generator& generator, DType dtype)
    : TransformerBlock(options.order, drawn(options, generator, dtype)) {}

TransformerBlock::TransformerBlock(NormOrder order, BlockParts parts) : order_(order), parts_(std::move(parts)) {
  nn::require_shape(kName, "ln1", {d_model()}, normalized_of(parts_.ln1));
  nn::require_shape(kName, "ln2", {d_model()}, normalized_of(parts_.ln2));
  require_model_width("attention.d_context", d_model(), parts_.attention.d_context());
  require_model_width("feed_forward", d_model(), parts_.feed_forward.up().in());
  if (parts_.ln_cross.has_value() != parts_.cross.has_value()) {
    throw InvalidArgument(kName, "ln_cross", "both ln_cross and cross, or neither", "one of them");
  }
  if (!parts_.cross) return;
  nn::require_shape(kName, "ln_cross", {d_model()}, normalized_of(*parts_.ln_cross));
  require_model_width("cross", d_model(), parts_.cross->options().d_model);
}

Tensor TransformerBlock::forward(const TensorView& x, const BlockForward& call) const {
  if (parts_.cross) throw InvalidArgument(kName, "context", "one for the cross-attention", "none");
  return run(x, std::nullopt, call);
}

Tensor TransformerBlock::forward_cross(const TensorView& x, const TensorView& context, const BlockForward& call) const {
  if (!parts_.cross) {
    throw InvalidArgument(kName, "context", "none without cross-attention", context.shape().to_string());
  }
  return run(x, context, call);
}

Tensor TransformerBlock::run(const TensorView& x, const std::optional<TensorView>& context,
                             const BlockForward& call) const {
  nn::require_sequence(kName, "x", d_model(), x);
  const MultiHeadForward self{
      .attention = call.attention, .positions = call.positions, .order = call.order, .taps = call.taps.inner("attn")};
  Tensor state = with_residual(x, order_, parts_.ln1, {.norm = "ln1", .sum = "resid_mid"}, call.taps,
                               [&](const TensorView& input) { return parts_.attention.forward(input, self); });
  if (context) {
    const MultiHeadForward cross{
        .attention = call.cross_attention, .order = call.order, .taps = call.taps.inner("cross")};
    state = with_residual(state, order_, *parts_.ln_cross, {.norm = "ln_cross", .sum = "resid_cross"}, call.taps,
                          [&](const TensorView& input) { return parts_.cross->forward_cross(input, *context, cross); });
  }
  return with_residual(
      state, order_, parts_.ln2, {.norm = "ln2", .sum = "resid_out"}, call.taps,
      [&](const TensorView& input) { return parts_.feed_forward.forward(input, call.taps.inner("ffn")); });
}

}  // namespace qkv
