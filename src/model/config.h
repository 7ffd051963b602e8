// A model's options as words, and back, from one list of them for each model.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/found.h"
#include "core/listed.h"
#include "core/number_text.h"
#include "qkv/model/encoder.h"
#include "qkv/model/image_encoder.h"
#include "qkv/model/layer_choices.h"
#include "qkv/model/token_input.h"
#include "qkv/model/two_tower.h"

namespace qkv {

using ModelConfig = std::map<std::string, std::string>;

namespace config_detail {

inline constexpr std::array kOrders = {NormOrder::pre,   NormOrder::post,     NormOrder::both,
                                       NormOrder::after, NormOrder::parallel, NormOrder::parallel_one};
inline constexpr std::array kRotaryLayouts = {RotaryLayout::half_split, RotaryLayout::interleaved};
inline constexpr std::array kEmbeddingScales = {EmbeddingScale::small, EmbeddingScale::root_width,
                                                EmbeddingScale::normed};
inline constexpr std::array kActivations = {
    Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu, Activation::relu,  Activation::silu,
    Activation::tanh, Activation::sigmoid,   Activation::leaky_relu, Activation::relu2, Activation::linear};
inline constexpr std::array kHeads = {EncoderHead::product, EncoderHead::transform, EncoderHead::none};
inline constexpr std::array kNorms = {NormKind::layer, NormKind::rms, NormKind::rms_plus_one,
                                      NormKind::layer_without_bias};
inline constexpr std::array kSelfAttentions = {SelfAttention::causal, SelfAttention::full};
inline constexpr std::array kImagePoolings = {ImagePooling::mean, ImagePooling::class_token, ImagePooling::attention};
inline constexpr std::array kTextPoolings = {TextPooling::mean, TextPooling::last, TextPooling::end,
                                             TextPooling::highest};
inline constexpr std::array kPairLosses = {PairLoss::softmax, PairLoss::sigmoid};
inline constexpr std::array kClassesRead = {ClassesRead::class_token, ClassesRead::with_mean, ClassesRead::two_tokens};
inline constexpr std::array kExpertShares = {ExpertShares::of_chosen, ExpertShares::of_all, ExpertShares::in_turn,
                                             ExpertShares::sigmoid, ExpertShares::sigmoid_of_chosen};
inline constexpr std::array kFeedForwards = {FeedForwardKind::plain, FeedForwardKind::gated, FeedForwardKind::limited};

/// Writes each option that it is called with.
class Write {
 public:
  explicit Write(ModelConfig& config) : config_(config) {}

  template <class Value>
  void operator()(const char* word, const Value& value) const {
    config_[word] = text_of(value);
  }
  /// An option with a value of its own where none was given, which is then said.
  template <class Value>
  void operator()(const char* word, const std::optional<Value>& value, const Value& otherwise) const {
    config_[word] = text_of(value.value_or(otherwise));
  }
  /// Said only where it differs: a file that was written before there was such an option has none.
  template <class Value>
  void later(const char* word, const Value& value, const Value& usual) const {
    if (value != usual) config_[word] = text_of(value);
  }

 private:
  static std::string text_of(std::int64_t value) { return std::to_string(value); }
  static std::string text_of(bool value) { return value ? "yes" : "no"; }
  static std::string text_of(double value);
  static std::string text_of(const RotaryScaling& scaling);
  template <class Number>
  static std::string text_of(const std::vector<Number>& values) {
    std::string text;
    for (const Number value : values) text += (text.empty() ? "" : " ") + text_of(value);
    return text;
  }
  template <class Value>
  static std::string text_of(const std::optional<Value>& value) {
    return text_of(*value);
  }
  template <class Enum>
    requires std::is_enum_v<Enum>
  static std::string text_of(Enum value) {
    return std::string(name_of(value));
  }

  ModelConfig& config_;
};

/// Reads each option; throws InvalidArgument(function, word, …) where the word is missing or has no meaning.
class Read {
 public:
  Read(const char* function, const ModelConfig& config) : function_(function), config_(config) {}

  void operator()(const char* word, std::int64_t& value) const;
  void operator()(const char* word, bool& value) const;
  void operator()(const char* word, double& value) const;
  void operator()(const char* word, RotaryScaling& scaling) const;
  void operator()(const char* word, Positions& value) const;
  void operator()(const char* word, EncoderHead& value) const { value = one_of(word, kHeads); }
  void operator()(const char* word, SelfAttention& value) const { value = one_of(word, kSelfAttentions); }
  void operator()(const char* word, ImagePooling& value) const { value = one_of(word, kImagePoolings); }
  void operator()(const char* word, TextPooling& value) const { value = one_of(word, kTextPoolings); }
  void operator()(const char* word, PairLoss& value) const { value = one_of(word, kPairLosses); }
  void operator()(const char* word, ClassesRead& value) const { value = one_of(word, kClassesRead); }
  void operator()(const char* word, NormKind& value) const { value = one_of(word, kNorms); }
  void operator()(const char* word, FeedForwardKind& value) const { value = one_of(word, kFeedForwards); }
  void operator()(const char* word, ExpertShares& value) const { value = one_of(word, kExpertShares); }
  void operator()(const char* word, NormOrder& value) const { value = one_of(word, kOrders); }
  void operator()(const char* word, RotaryLayout& value) const { value = one_of(word, kRotaryLayouts); }
  void operator()(const char* word, Activation& value) const { value = one_of(word, kActivations); }
  void operator()(const char* word, EmbeddingScale& value) const { value = one_of(word, kEmbeddingScales); }
  template <class Number>
  void operator()(const char* word, std::vector<Number>& values) const {
    auto numbers = core::numbers_from<Number>(text(word), ' ');
    if (!numbers) {
      throw InvalidArgument(function_, word, std::is_integral_v<Number> ? "whole numbers" : "numbers",
                            "\"" + text(word) + "\"");
    }
    values = std::move(*numbers);
  }
  template <class Value>
  void operator()(const char* word, std::optional<Value>& value) const {
    (*this)(word, value.emplace());
  }
  template <class Value>
  void operator()(const char* word, std::optional<Value>& value, const Value& /*otherwise*/) const {
    (*this)(word, value);
  }
  template <class Value>
  void later(const char* word, Value& value, const Value& /*usual*/) const {
    if (config_.contains(word)) (*this)(word, value);
  }

  void require_kind(const char* kind) const;

 private:
  [[nodiscard]] const std::string& text(const char* word) const;

  /// The one of `values` whose name_of() stands under `word`.
  template <class Enum, std::size_t N>
  [[nodiscard]] Enum one_of(const char* word, const std::array<Enum, N>& values) const {
    if (const auto* const found = core::found_in(values, text(word), core::NameOf())) return *found;
    throw InvalidArgument(function_, word, "one of " + core::joined(values, core::NameOf()), "\"" + text(word) + "\"");
  }

  const char* function_;
  const ModelConfig& config_;
};

}  // namespace config_detail

/// The words that all models have. A config is a map, so their order is of no matter.
template <class Options, class Each>
void each_common_option(Options& o, const Each& each) {
  each("vocabulary", o.vocabulary);
  each("length", o.length);
  each("d_model", o.d_model);
  each("heads", o.heads);
  each("d_ff", o.d_ff, 4 * o.d_model);
  each("positions", o.positions);
}

template <class Options, class Each>
void each_layer_choice(Options& o, const Each& each) {
  const LayerChoices usual;
  each.later("norm", o.choices.norm, usual.norm);
  each.later("epsilon", o.choices.epsilon, usual.epsilon);
  each.later("feed_forward", o.choices.feed_forward, usual.feed_forward);
  each.later("feed_forward_bias", o.choices.feed_forward_bias, usual.feed_forward_bias);
  each.later("feed_forward_limit", o.choices.feed_forward_limit, usual.feed_forward_limit);
  each.later("experts", o.choices.experts.count, usual.experts.count);
  each.later("experts_per_token", o.choices.experts.per_token, usual.experts.per_token);
  each.later("expert_d_ff", o.choices.experts.d_ff, usual.experts.d_ff);
  each.later("expert_shares", o.choices.experts.shares, usual.experts.shares);
  each.later("router_jitter", o.choices.experts.router_jitter, usual.experts.router_jitter);
  each.later("router_bias", o.choices.experts.router_bias, usual.experts.router_bias);
  each.later("expert_groups", o.choices.experts.groups, usual.experts.groups);
  each.later("groups_per_token", o.choices.experts.groups_per_token, usual.experts.groups_per_token);
  each.later("router_correction", o.choices.experts.correction, usual.experts.correction);
  each.later("expert_factor", o.choices.experts.factor, usual.experts.factor);
  each.later("shared_d_ff", o.choices.experts.shared_d_ff, usual.experts.shared_d_ff);
  each.later("shared_gate", o.choices.experts.shared_gate, usual.experts.shared_gate);
  each.later("without_experts", o.choices.without_experts, usual.without_experts);
  each.later("key_bias", o.choices.key_bias, usual.key_bias);
  each.later("out_bias", o.choices.out_bias, usual.out_bias);
  each.later("kv_heads", o.choices.kv_heads, usual.kv_heads);
  each.later("d_k", o.choices.d_k, usual.d_k);
  each.later("d_v", o.choices.d_v, usual.d_v);
  each.later("kv_rank", o.choices.latent.kv_rank, usual.latent.kv_rank);
  each.later("q_rank", o.choices.latent.q_rank, usual.latent.q_rank);
  each.later("latent_epsilon", o.choices.latent.epsilon, usual.latent.epsilon);
  each.later("qk_norm", o.choices.qk_norm, usual.qk_norm);
  each.later("qk_norm_of_all", o.choices.qk_norm_of_all, usual.qk_norm_of_all);
  each.later("scale", o.choices.scale, usual.scale);
  each.later("softcap", o.choices.softcap, usual.softcap);
  each.later("sinks", o.choices.sinks, usual.sinks);
  each.later("rotary_base", o.choices.rotary_base, usual.rotary_base);
  each.later("rotary_dim", o.choices.rotary_dim, usual.rotary_dim);
  each.later("rotary_layout", o.choices.rotary_layout, usual.rotary_layout);
  each.later("rotary_scaling", o.choices.rotary_scaling, usual.rotary_scaling);
  each.later("local_rotary_base", o.choices.local_rotary_base, usual.local_rotary_base);
  each.later("local_rotary_scaling", o.choices.local_rotary_scaling, usual.local_rotary_scaling);
  each.later("t5_buckets", o.choices.t5_buckets, usual.t5_buckets);
  each.later("t5_max_distance", o.choices.t5_max_distance, usual.t5_max_distance);
  each.later("windows", o.choices.windows, usual.windows);
  each.later("unturned", o.choices.unturned, usual.unturned);
  each.later("alibi_slopes", o.choices.alibi_slopes, usual.alibi_slopes);
  each.later("residual_scale", o.choices.residual_scale, usual.residual_scale);
  each.later("first_norm", o.choices.first_norm, usual.first_norm);
  each.later("one_block", o.choices.one_block, usual.one_block);
  each.later("t5_beside", o.choices.t5_beside, usual.t5_beside);
  each.later("sines_in_halves", o.choices.sines_in_halves, usual.sines_in_halves);
}

/// `each_option(options, each)` calls `each` with every option and its word.
template <class Options, class EachOption>
[[nodiscard]] ModelConfig config_from(const char* kind, const Options& options, const EachOption& each_option) {
  ModelConfig config = {{"kind", kind}};
  each_option(options, config_detail::Write(config));
  return config;
}

template <class Options, class EachOption>
[[nodiscard]] Options options_from(const char* function, const char* kind, const ModelConfig& config,
                                   const EachOption& each_option) {
  const config_detail::Read read(function, config);
  read.require_kind(kind);
  Options options;
  each_option(options, read);
  return options;
}

}  // namespace qkv
