#include "model/saving/gguf_words.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/overloaded.h"
#include "qkv/error.h"

namespace qkv::saving {
namespace {

// Words of one architecture: "llama.block_count".
class WordsOf {
 public:
  explicit WordsOf(std::string_view architecture) : prefix_(std::string(architecture) + ".") {
    all_.words["general.architecture"] = {"string", std::string(architecture)};
  }

  void whole(std::string_view name, std::int64_t value) { add(name, {"u32", value}); }
  void number(std::string_view name, double value) { add(name, {"f32", value}); }
  void flag(std::string_view name, bool value) { add(name, {"bool", value}); }
  void flags(std::string_view name, std::vector<std::int64_t> values) {
    add(name, {"list of bool", std::move(values)});
  }
  void text(std::string_view name, std::string value) { add(name, {"string", std::move(value)}); }
  void whole_of_all(const std::string& key, std::int64_t value) { all_.words[key] = {"u32", value}; }
  void tensor(std::string name, const Tensor& values) {
    all_.tensors.push_back({std::move(name), "F32", {values.dim(0)}, [values] { return values; }});
  }
  GgufWords take() { return std::move(all_); }

 private:
  void add(std::string_view name, GgufValue value) { all_.words[prefix_ + std::string(name)] = std::move(value); }

  std::string prefix_;
  GgufWords all_;
};

// By how much each frequency is slower than without scaling.
Tensor slower_by(std::int64_t width, double base, const RotaryScaling& scaling) {
  const std::vector<double> plain = rotary_frequencies({.dim = width, .base = base});
  const std::vector<double> scaled = rotary_frequencies({.dim = width, .base = base, .scaling = scaling});
  Tensor factors(DType::f32, {std::ssize(plain)});
  for (std::size_t n = 0; n < plain.size(); ++n) factors.values<float>()[n] = static_cast<float>(plain[n] / scaled[n]);
  return factors;
}

void add_yarn(WordsOf& words, const YarnScaling& scaling) {
  words.text("rope.scaling.type", "yarn");
  words.number("rope.scaling.factor", scaling.factor);
  words.whole("rope.scaling.original_context_length", scaling.original_max);
  words.number("rope.scaling.yarn_beta_fast", scaling.beta_fast);
  words.number("rope.scaling.yarn_beta_slow", scaling.beta_slow);
  // There it is a product with what `transformers` takes by itself.
  if (scaling.attention_factor) {
    words.number("rope.scaling.attn_factor", *scaling.attention_factor / (1 + 0.1 * std::log(scaling.factor)));
  }
}

Tensor as_f32(const std::vector<double>& numbers) { return Tensor(numbers, {std::ssize(numbers)}).to(DType::f32); }

void add_longrope(WordsOf& words, const LongRopeScaling& scaling) {
  if (scaling.shorter_magnitude != scaling.longer_magnitude) {
    throw Error(
        "rotary positions: expected one magnitude for texts of any length, which is all that GGUF has words for");
  }
  words.text("rope.scaling.type", "longrope");
  words.whole("rope.scaling.original_context_length", scaling.original_max);
  words.number("rope.scaling.attn_factor", scaling.longer_magnitude);
  words.tensor("rope_factors_long.weight", as_f32(scaling.longer));
  words.tensor("rope_factors_short.weight", as_f32(scaling.shorter));
}

void add_rotary(WordsOf& words, const LayerChoices& choices, std::int64_t width) {
  words.whole("rope.dimension_count", width);
  words.number("rope.freq_base", choices.rotary_base);
  std::visit(Overloaded{[](std::monostate) {}, [](const NtkScaling&) {},
                        [&](const LinearScaling& scaling) {
                          words.text("rope.scaling.type", "linear");
                          words.number("rope.scaling.factor", scaling.factor);
                        },
                        [&](const YarnScaling& scaling) { add_yarn(words, scaling); },
                        [&](const LongRopeScaling& scaling) { add_longrope(words, scaling); },
                        [&](const Llama3Scaling& scaling) {
                          words.tensor("rope_freqs.weight", slower_by(width, choices.rotary_base, scaling));
                        }},
             choices.rotary_scaling);
}

void add_windows(WordsOf& words, std::string_view architecture, const std::vector<std::int64_t>& windows) {
  // llama.cpp asks Phi 3 for one: 0 is none.
  if (windows.empty() && architecture == "phi3") words.whole("attention.sliding_window", 0);
  if (windows.empty()) return;
  words.whole("attention.sliding_window", std::ranges::max(windows));
  if (architecture == "gemma2" || architecture == "phi3") return;
  std::vector<std::int64_t> are_local;
  for (const std::int64_t window : windows) are_local.push_back(window > 0 ? 1 : 0);
  words.flags("attention.sliding_window_pattern", std::move(are_local));
}

void add_gemma(WordsOf& words, const DecoderOptions& options) {
  const LayerChoices& choices = options.choices;
  if (choices.scale) words.number("attention.scale", *choices.scale);
  if (choices.softcap) words.number("attn_logit_softcapping", *choices.softcap);
  if (options.logit_softcap) words.number("final_logit_softcapping", *options.logit_softcap);
  if (choices.local_rotary_base) words.number("rope.freq_base_swa", *choices.local_rotary_base);
}

void add_granite(WordsOf& words, const DecoderOptions& options) {
  const LayerChoices& choices = options.choices;
  if (choices.scale) words.number("attention.scale", *choices.scale);
  if (options.embedding_factor) words.number("embedding_scale", *options.embedding_factor);
  if (choices.residual_scale) words.number("residual_scale", *choices.residual_scale);
  words.number("logit_scale", 1 / options.output_scale.value_or(1));
}

void add_experts(WordsOf& words, const DecoderOptions& options) {
  const ExpertOptions& experts = options.choices.experts;
  if (experts.count == 0) return;
  words.whole("expert_count", experts.count);
  words.whole("expert_used_count", experts.per_token);
  if (experts.d_ff) words.whole("expert_feed_forward_length", *experts.d_ff);
  if (experts.shared_d_ff) words.whole("expert_shared_feed_forward_length", *experts.shared_d_ff);
}

// What one architecture or another says beside what all say.
void add_own(WordsOf& words, std::string_view architecture, const DecoderOptions& options) {
  if (architecture.starts_with("gemma")) add_gemma(words, options);
  if (architecture.starts_with("granite")) add_granite(words, options);
  if (architecture == "command-r" || architecture == "cohere2") {
    words.number("logit_scale", options.output_scale.value_or(1));
  }
  if (architecture == "gptneox" || architecture == "stablelm") {
    words.flag("use_parallel_residual", options.order != NormOrder::pre);
  }
  if (architecture == "falcon") words.text("tensor_data_layout", "jploski");
  if (architecture == "mpt") words.number("attention.max_alibi_bias", 8);
  if (architecture == "gpt-oss") {
    words.whole("expert_feed_forward_length", options.d_ff.value_or(4 * options.d_model));
  }
}

template <class Options>
std::int64_t head_width_of(const Options& options) {
  return options.choices.d_k.value_or(options.heads > 0 ? options.d_model / options.heads : 0);
}

// What all have alike.
template <class Options>
void add_sizes(WordsOf& words, const Options& options, std::int64_t layers) {
  words.whole("context_length", options.length);
  words.whole("block_count", layers);
  words.whole("embedding_length", options.d_model);
  words.whole("feed_forward_length", options.d_ff.value_or(4 * options.d_model));
  words.whole("attention.head_count", options.heads);
  words.whole("vocab_size", options.vocabulary);
}

void add_decoder(WordsOf& words, std::string_view architecture, const DecoderOptions& options) {
  const LayerChoices& choices = options.choices;
  add_sizes(words, options, options.layers);
  const bool is_rms = choices.norm == NormKind::rms || choices.norm == NormKind::rms_plus_one;
  words.number(is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", choices.epsilon);
  if (architecture == "gpt2") return;
  const std::int64_t width = head_width_of(options);
  words.whole("attention.head_count_kv", choices.kv_heads.value_or(options.heads));
  words.whole("attention.key_length", width);
  words.whole("attention.value_length", width);
  if (options.positions == Positions::rotary) add_rotary(words, choices, choices.rotary_dim.value_or(width));
  add_windows(words, architecture, choices.windows);
  add_experts(words, options);
  add_own(words, architecture, options);
}

// Windows of both sides, of which one key is the query's own.
void add_modernbert(WordsOf& words, const EncoderOptions& options) {
  const LayerChoices& choices = options.choices;
  const auto second = std::ranges::find(choices.windows.begin() + 1, choices.windows.end(), 0);
  words.whole("attention.sliding_window", 2 * (std::ranges::max(choices.windows) - 1));
  words.whole("attention.sliding_window_pattern", second - choices.windows.begin());
  words.number("rope.freq_base_swa", choices.local_rotary_base.value_or(choices.rotary_base));
  words.text("hidden_activation", std::string(name_of(options.activation)));
}

void add_encoder(WordsOf& words, std::string_view architecture, const EncoderOptions& options) {
  add_sizes(words, options, options.layers);
  words.number("attention.layer_norm_epsilon", options.choices.epsilon);
  words.flag("attention.causal", options.self_attention == SelfAttention::causal);
  if (options.types > 0) words.whole_of_all("tokenizer.ggml.token_type_count", options.types);
  if (architecture == "modern-bert" && options.choices.windows.size() > 1) add_modernbert(words, options);
  if (options.positions != Positions::rotary) return;
  add_rotary(words, options.choices, head_width_of(options));
  if (!options.choices.d_k) return;
  words.whole("attention.key_length", *options.choices.d_k);
  words.whole("attention.value_length", *options.choices.d_k);
}

void add_encoder_decoder(WordsOf& words, const EncoderDecoderOptions& options) {
  constexpr std::int64_t kLength = 512;  // where the model has no length, as T5 has none
  add_sizes(words, options, options.encoder_layers);
  if (options.length == 0) words.whole("context_length", kLength);
  words.whole("decoder_block_count", options.layers);
  words.whole("attention.key_length", head_width_of(options));
  words.whole("attention.value_length", head_width_of(options));
  words.number("attention.layer_norm_epsilon", options.choices.epsilon);
  words.number("attention.layer_norm_rms_epsilon", options.choices.epsilon);
  words.whole("attention.relative_buckets_count", options.choices.t5_buckets);
  if (options.start) words.whole("decoder_start_token_id", *options.start);
}

}  // namespace

GgufWords gguf_words(std::string_view architecture, const Model::Network& network) {
  WordsOf words(architecture);
  std::visit(Overloaded{[&](const Decoder& decoder) { add_decoder(words, architecture, decoder.options()); },
                        [&](const Encoder& encoder) { add_encoder(words, architecture, encoder.options()); },
                        [&](const EncoderDecoder& both) { add_encoder_decoder(words, both.options()); },
                        [](const auto& other) {
                          throw Error("no architecture of GGUF is such a network: " +
                                      std::string(name_of(kind_of<std::decay_t<decltype(other)>>)));
                        }},
             network);
  return words.take();
}

}  // namespace qkv::saving
