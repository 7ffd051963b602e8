#include "oracle/of_layers.h"

#include <algorithm>
#include <stdexcept>

namespace qkv::oracle {
namespace {

std::optional<Tensor> found(const Parameters& parameters, const std::string& name) {
  const auto place = std::ranges::find(parameters, name, &Parameter::name);
  return place == parameters.end() ? std::nullopt : std::optional<Tensor>(Tensor(place->value.value()));
}

Tensor required(const Parameters& parameters, const std::string& name) {
  std::optional<Tensor> value = found(parameters, name);
  if (!value) throw std::out_of_range(name);
  return *value;
}

}  // namespace

Linear linear_of(const Parameters& parameters, const std::string& prefix) {
  return {.weight = required(parameters, prefix + "weight"), .bias = found(parameters, prefix + "bias")};
}

Norm norm_of(double epsilon, const Parameters& parameters, const std::string& prefix, NormKind kind) {
  return {.epsilon = epsilon,
          .weight = required(parameters, prefix + "weight"),
          .bias = found(parameters, prefix + "bias"),
          .gain = kind == NormKind::rms_plus_one ? 1.0 : 0.0,
          .centred = kind == NormKind::layer_without_bias};
}

FeedForward feed_forward_of(Activation activation, const Parameters& parameters, const std::string& prefix) {
  FeedForward layer{.gate = std::nullopt,
                    .up = linear_of(parameters, prefix + "up."),
                    .down = linear_of(parameters, prefix + "down."),
                    .activation = activation};
  if (found(parameters, prefix + "gate.weight")) layer.gate = linear_of(parameters, prefix + "gate.");
  return layer;
}

MultiHeadAttention attention_of(const MultiHeadOptions& options, const Parameters& parameters,
                                const std::string& prefix) {
  MultiHeadAttention layer{.options = options,
                           .q = linear_of(parameters, prefix + "q."),
                           .k = linear_of(parameters, prefix + "k."),
                           .v = linear_of(parameters, prefix + "v."),
                           .out = linear_of(parameters, prefix + "out.")};
  if (options.qk_norm) {
    layer.q_norm = norm_of(*options.qk_norm, parameters, prefix + "q_norm.", options.qk_norm_kind);
    layer.k_norm = norm_of(*options.qk_norm, parameters, prefix + "k_norm.", options.qk_norm_kind);
  }
  return layer;
}

TransformerBlock block_of(const BlockOptions& options, const Parameters& parameters, const std::string& prefix) {
  const auto norm = [&](const char* name) {
    return norm_of(options.epsilon, parameters, prefix + name + ".", options.norm);
  };
  const bool is_after = options.order == NormOrder::after;
  TransformerBlock block{.order = options.order,
                         .attention = attention_of(options.attention, parameters, prefix + "attn."),
                         .feed_forward = feed_forward_of(options.activation, parameters, prefix + "ffn."),
                         .residual_scale = options.residual_scale};
  if (!is_after && options.first_norm) block.ln1 = norm("ln1");
  if (!is_after && options.order != NormOrder::parallel_one) block.ln2 = norm("ln2");
  if (options.d_context) {
    MultiHeadOptions cross = options.attention;
    cross.d_context = options.d_context;
    cross.rotary.reset();
    cross.window.reset();
    if (!is_after) block.ln_cross = norm("ln_cross");
    block.cross = attention_of(cross, parameters, prefix + "cross.");
  }
  if (options.order == NormOrder::both || is_after) {
    block.attention_norm = norm("attn_norm");
    if (block.cross) block.cross_norm = norm("cross_norm");
    block.feed_forward_norm = norm("ffn_norm");
  }
  return block;
}

TransformerStack stack_of(const StackOptions& options, const Parameters& parameters) {
  TransformerStack stack{.kind = options.kind, .blocks = {}};
  for (std::int64_t n = 0; n < options.layers; ++n) {
    BlockOptions block = options.block;
    if (options.vary) options.vary(n, block);
    const std::int64_t own = options.one_block ? 0 : n;
    stack.blocks.push_back(block_of(block, parameters, "blocks." + std::to_string(own) + "."));
  }
  if (options.block.order != NormOrder::post) {
    stack.last = norm_of(options.block.epsilon, parameters, "ln_final.", options.block.norm);
  }
  return stack;
}

}  // namespace qkv::oracle
