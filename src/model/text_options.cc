#include "model/text_options.h"

#include <algorithm>
#include <string>

#include "qkv/autograd/scope.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

std::int64_t head_width(const TextOptions& options) {
  return options.choices.d_k.value_or(options.d_model / options.heads);
}

// Numbers of parameters are sums of products of sizes: no model that a machine holds comes near these.
void require_countable(std::string_view model, const TextOptions& options) {
  constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;
  constexpr std::int64_t kLargestWeight = std::int64_t{1} << 40;
  const auto require = [&](bool holds, const char* size, std::int64_t most, std::int64_t got) {
    if (!holds) throw InvalidArgument(model, size, "at most " + std::to_string(most), std::to_string(got));
  };
  const std::int64_t d_model = options.d_model;
  require(d_model <= kLargestSize, "d_model", kLargestSize, d_model);
  const std::int64_t widest = std::min(kLargestWeight / d_model, kLargestSize);
  const auto require_width = [&](const char* size, std::int64_t width) {
    require(width <= widest, size, widest, width);
  };
  require_width("d_model", d_model);
  require_width("vocabulary", options.vocabulary);
  require_width("d_ff", options.d_ff.value_or(1));
  require_width("expert_d_ff", options.choices.experts.d_ff.value_or(1));
  require_width("shared_d_ff", options.choices.experts.shared_d_ff.value_or(1));
  require_width("d_context", options.d_context.value_or(1));
  require_width("heads", options.heads);
  require_width("d_k", head_width(options));
  require_width("d_k", head_width(options) * options.heads);
  require_width("d_v", options.choices.d_v.value_or(1) * options.heads);
  require_width("kv_rank", options.choices.latent.kv_rank);
  require_width("q_rank", options.choices.latent.q_rank.value_or(1));
  if (options.positions == Positions::learned) require_width("length", options.length);
}

void require_experts(std::string_view model, const TextOptions& options) {
  // A layer for each is made before weights are seen: a wrong config.json must not cost gigabytes.
  constexpr std::int64_t kMostExperts = std::int64_t{1} << 17;
  const ExpertOptions& experts = options.choices.experts;
  const auto require = [&](bool holds, const char* word, const std::string& expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(model, word, expected, std::to_string(got));
  };
  const std::int64_t most = kMostExperts / options.layers;
  require(experts.count >= 0 && experts.count <= most, "experts", "0 to " + std::to_string(most), experts.count);
  const auto layers = static_cast<std::int64_t>(options.choices.without_experts.size());
  require(layers == 0 || layers == options.layers, "without_experts",
          "one for each of " + std::to_string(options.layers) + " layers", layers);
  if (experts.count == 0) return;
  require(experts.per_token >= 1 && experts.per_token <= experts.count, "experts_per_token",
          "1 to experts, " + std::to_string(experts.count), experts.per_token);
  require(experts.d_ff.value_or(1) > 0, "expert_d_ff", "more than 0", experts.d_ff.value_or(1));
  require(experts.shared_d_ff.value_or(1) > 0, "shared_d_ff", "more than 0", experts.shared_d_ff.value_or(1));
}

bool is_without_experts(const LayerChoices& choices, std::int64_t n) {
  return !choices.without_experts.empty() && choices.without_experts[static_cast<std::size_t>(n)] != 0;
}

void add_window(const LayerChoices& choices, std::int64_t n, MultiHeadOptions& layer) {
  if (choices.windows.empty()) return;
  const std::int64_t window = choices.windows[static_cast<std::size_t>(n)];
  if (window == 0) return;
  layer.window = window;
  if (!layer.rotary || !choices.local_rotary_base) return;
  layer.rotary->base = *choices.local_rotary_base;
  layer.rotary->scaling = choices.local_rotary_scaling;
}

// How many numbers of each head turn.
std::int64_t turned_width(const TextOptions& options) {
  return options.choices.rotary_dim.value_or(head_width(options));
}

}  // namespace

void require_sound(std::string_view model, const TextOptions& options) {
  const auto require = [&](bool holds, std::string_view argument, std::string_view expected, std::int64_t got) {
    if (!holds) throw InvalidArgument(model, argument, expected, std::to_string(got));
  };
  require(options.vocabulary > 0, "vocabulary", "more than 0", options.vocabulary);
  require(options.layers > 0, "layers", "more than 0", options.layers);
  require(options.d_model > 0, "d_model", "more than 0", options.d_model);
  require(options.heads > 0, "heads", "more than 0", options.heads);
  require(options.d_ff.value_or(1) > 0, "d_ff", "more than 0", options.d_ff.value_or(1));
  require(options.d_context.value_or(1) > 0, "d_context", "more than 0", options.d_context.value_or(1));
  require_countable(model, options);
  const std::string width = std::to_string(options.d_model);
  require(options.choices.d_k || options.d_model % options.heads == 0, "heads",
          "a divisor of `d_model`, " + width + ", since each head has `d_model` / `heads` of it", options.heads);
  if (options.positions == Positions::rotary) {
    require(options.choices.rotary_dim || head_width(options) % 2 == 0, "heads",
            "heads of even width, which rotary positions turn in pairs; `d_model` is " + width, options.heads);
    require(turned_width(options) > 0 && turned_width(options) % 2 == 0 && turned_width(options) <= head_width(options),
            "rotary_dim", "an even number, at most the width of a head, " + std::to_string(head_width(options)),
            turned_width(options));
    // A frequency for each pair is kept: a wrong config.json must not cost gigabytes.
    constexpr std::int64_t kWidest = std::int64_t{1} << 16;
    require(head_width(options) <= kWidest, "heads", "heads of at most 65536 numbers, which rotary positions turn",
            head_width(options));
  }
  const auto windows = static_cast<std::int64_t>(options.choices.windows.size());
  require(windows == 0 || windows == options.layers, "windows",
          "one for each of " + std::to_string(options.layers) + " layers", windows);
  for (const std::int64_t window : options.choices.windows) require(window >= 0, "windows", "0 or more keys", window);
  const auto unturned = static_cast<std::int64_t>(options.choices.unturned.size());
  require(unturned == 0 || unturned == options.layers, "unturned",
          "one for each of " + std::to_string(options.layers) + " layers", unturned);
  require_experts(model, options);
  const auto slopes = static_cast<std::int64_t>(options.choices.alibi_slopes.size());
  require(slopes == 0 || slopes == options.heads, "alibi_slopes",
          "one for each of " + std::to_string(options.heads) + " heads", slopes);
  require(!options.choices.one_block || (windows == 0 && unturned == 0 && options.choices.first_norm), "one_block",
          "layers without windows, unturned ones or a missing norm of their own", 1);
  require(!options.choices.sines_in_halves || options.d_model % 2 == 0, "d_model",
          "an even number, for as many sines as cosines", options.d_model);
  require(!options.choices.t5_beside || options.positions != Positions::t5, "t5_beside",
          "positions of another kind, since t5 has its buckets", 1);
  if (options.positions == Positions::t5 || options.choices.t5_beside) {
    // Two sides, and of each a half that counts single steps.
    const std::int64_t buckets = options.choices.t5_buckets;
    require(buckets >= 4 && buckets % 2 == 0, "t5_buckets", "an even number, 4 or more", buckets);
    require(options.choices.t5_max_distance > buckets / 2, "t5_max_distance",
            "more than half of t5_buckets, " + std::to_string(buckets), options.choices.t5_max_distance);
  }
  if (options.positions == Positions::learned) {
    require(options.length > 0, "length", "more than 0, for learned positions", options.length);
  }
}

TokenInputOptions input_options(const TextOptions& options, SelfAttention self_attention, EmbeddingScale scale) {
  return {.vocabulary = options.vocabulary,
          .length = options.length,
          .d_model = options.d_model,
          .heads = options.heads,
          .positions = options.positions,
          .self_attention = self_attention,
          .scale = scale,
          .epsilon = options.choices.epsilon,
          .alibi_slopes = options.choices.alibi_slopes,
          .norm = options.choices.norm,
          .t5_buckets = options.choices.t5_buckets,
          .t5_max_distance = options.choices.t5_max_distance,
          .t5_beside = options.choices.t5_beside,
          .sines_in_halves = options.choices.sines_in_halves};
}

StackOptions stack_options(const TextOptions& options, StackKind kind) {
  StackOptions stack{.kind = kind, .layers = options.layers};
  stack.block.attention.d_model = options.d_model;
  stack.block.attention.heads = options.heads;
  stack.block.attention.bias = options.bias;
  const LayerChoices& choices = options.choices;
  stack.block.attention.key_bias = choices.key_bias;
  stack.block.attention.out_bias = choices.out_bias;
  stack.block.attention.kv_heads = choices.kv_heads;
  stack.block.attention.d_k = choices.d_k;
  stack.block.attention.d_v = choices.d_v;
  stack.block.attention.latent = choices.latent;
  stack.block.attention.qk_norm = choices.qk_norm;
  stack.block.attention.qk_norm_of_all = choices.qk_norm_of_all;
  stack.block.attention.qk_norm_kind = choices.norm == NormKind::rms_plus_one ? NormKind::rms_plus_one : NormKind::rms;
  stack.block.attention.scale = choices.scale;
  stack.block.attention.softcap = choices.softcap;
  stack.block.norm = choices.norm;
  stack.block.epsilon = choices.epsilon;
  stack.block.feed_forward = choices.feed_forward;
  stack.block.feed_forward_limit = choices.feed_forward_limit;
  stack.block.feed_forward_bias = choices.feed_forward_bias;
  stack.block.experts = choices.experts;
  stack.block.attention.sinks = choices.sinks;
  stack.block.d_context = options.d_context;
  stack.block.d_ff = options.d_ff;
  stack.block.activation = options.activation;
  stack.block.order = options.order;
  stack.block.residual_scale = choices.residual_scale;
  if (options.positions == Positions::rotary) {
    stack.block.attention.rotary = RotaryOptions{.dim = turned_width(options),
                                                 .base = choices.rotary_base,
                                                 .layout = choices.rotary_layout,
                                                 .scaling = choices.rotary_scaling};
  }
  stack.one_block = choices.one_block;
  if (!choices.windows.empty() || !choices.unturned.empty() || !choices.without_experts.empty() ||
      !choices.first_norm) {
    stack.vary = [choices](std::int64_t n, BlockOptions& block) {
      block.first_norm = choices.first_norm || n > 0;
      if (!choices.unturned.empty() && choices.unturned[static_cast<std::size_t>(n)] != 0)
        block.attention.rotary.reset();
      if (is_without_experts(choices, n)) block.experts = {};
      add_window(choices, n, block.attention);
    };
  }
  return stack;
}

void require_start(std::string_view model, std::optional<std::int64_t> start, std::int64_t vocabulary) {
  if (!start || (*start >= 0 && *start < vocabulary)) return;
  throw InvalidArgument(model, "start", "a token from 0 to " + std::to_string(vocabulary - 1), std::to_string(*start));
}

Tensor prompt_or_start(std::string_view model, const TensorView& prompt, std::optional<std::int64_t> start,
                       std::int64_t texts) {
  if (prompt.data() != nullptr) return Tensor(prompt);
  if (!start) throw InvalidArgument(model, "prompt", "one, where there is no token to start", "none");
  return {std::vector<std::int64_t>(static_cast<std::size_t>(texts), *start), {texts, 1}};
}

ModelCall part_of(const ModelCall& call, std::uint64_t part) {
  ModelCall inner = call;
  if (call.dropout) inner.dropout = dropout_at(*call.dropout, part);
  inner.trace = nullptr;
  return inner;
}

Mask padding_mask(std::string_view model, const std::vector<std::int64_t>& lengths, std::int64_t B, std::int64_t T) {
  if (lengths.empty()) return {};
  if (static_cast<std::int64_t>(lengths.size()) != B) {
    throw InvalidArgument(model, "lengths", "one for each of " + std::to_string(B) + " texts",
                          std::to_string(lengths.size()));
  }
  for (const std::int64_t length : lengths) {
    if (length >= 0 && length <= T) continue;
    throw InvalidArgument(model, "lengths", "from 0 to " + std::to_string(T) + ", the tokens of a row",
                          std::to_string(length));
  }
  return key_lengths(lengths);
}

std::optional<Linear> output_map(bool is_tied, const TokenInput& input, const Init& init, bool has_bias) {
  if (is_tied) return std::nullopt;
  return Linear({.in = input.tokens().width(), .out = input.tokens().count(), .bias = has_bias, .dtype = input.dtype()},
                init);
}

Variable scores_of(const Variable& x, const std::optional<Linear>& output, const TokenInput& input,
                   const ModelCall& call) {
  const Variable read = call.scores == Scores::all ? x : slice(x, 1, x.dim(1) - 1, x.dim(1));
  const OperationScope scope("output");
  return output ? output->forward(read) : input.tokens().logits(read);
}

std::vector<Tensor> weights_of(const Trace& trace, std::string_view stack, std::string_view part, std::int64_t layers) {
  std::vector<Tensor> all;
  all.reserve(static_cast<std::size_t>(layers));
  for (std::int64_t n = 0; n < layers; ++n) {
    all.push_back(trace[std::string(stack) + "blocks." + std::to_string(n) + "." + std::string(part) + ".weights"]);
  }
  return all;
}

std::int64_t parameter_count(const StackOptions& options) {
  return parameter_count(TransformerStack(options, Init::undrawn()).parameters());
}

}  // namespace qkv
