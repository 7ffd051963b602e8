#include "model/families/gguf_metadata.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/families/gguf_family.h"
#include "model/families/gguf_rotary.h"

namespace qkv::families {
namespace {

using files::GgufKeys;
using Json = nlohmann::json;

bool is_list(const GgufKeys& keys, const std::string& key) {
  return keys.has(key) &&
         std::holds_alternative<std::vector<std::int64_t>>(keys.file().metadata().find(key)->second.value);
}

// Of a layer without experts, where there is one.
std::int64_t feed_forward_width(const GgufKeys& keys) {
  const std::string of_expert = key_of(keys, "expert_feed_forward_length");
  if (!keys.has(of_expert)) return of_each_layer(keys, "feed_forward_length");
  return of_each_layer(keys, "feed_forward_length", of_each_layer(keys, "expert_feed_forward_length"));
}

// The part of `width` that is `turned`: their product, cut to a whole number, gives `turned` again.
double part_turned(std::int64_t turned, std::int64_t width) {
  const double part = static_cast<double>(turned) / static_cast<double>(width);
  const bool is_short = static_cast<std::int64_t>(part * static_cast<double>(width)) < turned;
  return is_short ? std::nextafter(part, 2) : part;
}

Json rope_words(const GgufKeys& keys, std::int64_t of_head, const DecoderForm& form) {
  const std::string key = key_of(keys, "rope.dimension_count");
  const std::int64_t turned = keys.integer(key, of_head);
  if (form.turned == TurnedPart::whole && turned != of_head) {
    keys.refuse(key, std::to_string(of_head) + ", the width of a head");
  }
  if (turned < 1 || turned > of_head) keys.refuse(key, "1 to " + std::to_string(of_head) + ", the width of a head");
  Json rope = gguf_rope(keys, turned, form.base);
  if (form.turned == TurnedPart::as_said) rope["partial_rotary_factor"] = part_turned(turned, of_head);
  return rope;
}

}  // namespace

bool has_tensor(const GgufKeys& keys, std::string_view name) { return keys.file().find(name) != nullptr; }

std::int64_t integer_of(const GgufKeys& keys, std::string_view name) { return keys.integer(key_of(keys, name)); }

double factor_of(const GgufKeys& keys, std::string_view name) {
  const std::string key = key_of(keys, name);
  const double factor = keys.number(key, 1);
  if (!(factor > 0)) keys.refuse(key, "more than 0");
  return factor;
}

std::int64_t of_each_layer(const GgufKeys& keys, std::string_view name, std::optional<std::int64_t> otherwise) {
  const std::string key = key_of(keys, name);
  if (!keys.has(key) && otherwise) return *otherwise;
  if (!is_list(keys, key)) return keys.integer(key);
  const std::vector<std::int64_t> all = keys.integers(key);
  const bool are_alike = !all.empty() && std::ranges::count(all, all.front()) == std::ssize(all);
  if (!are_alike || all.front() < 0 || all.front() > INT32_MAX) keys.refuse(key, "the same number in each layer");
  return all.front();
}

std::int64_t layers_of(const GgufKeys& keys) {
  const std::int64_t most = std::min<std::int64_t>(16384, std::ssize(keys.file().entries()));
  const std::int64_t count = integer_of(keys, "block_count");
  if (count < 1 || count > most) {
    keys.refuse(key_of(keys, "block_count"), "from 1 to " + std::to_string(most) + ", the number of tensors");
  }
  return count;
}

void require_absent(const GgufKeys& keys, std::string_view name, std::string_view without) {
  const std::string key = key_of(keys, name);
  if (keys.has(key) && keys.integer(key) != 0) {
    keys.refuse(key, "0: qkv computes no model with " + std::string(without));
  }
}

// Of each key where the file says it, else the share of `width`.
std::int64_t head_width(const GgufKeys& keys, std::int64_t width, std::int64_t heads) {
  const std::string heads_key = key_of(keys, "attention.head_count");
  if (heads < 1) keys.refuse(heads_key, "1 or more");
  if (width % heads != 0 && !keys.has(key_of(keys, "attention.key_length"))) {
    keys.refuse(heads_key, "a divisor of embedding_length, " + std::to_string(width));
  }
  const std::int64_t usual = width / heads;
  const std::int64_t own = keys.integer(key_of(keys, "attention.key_length"), usual);
  const std::string value_key = key_of(keys, "attention.value_length");
  if (keys.integer(value_key, own) != own) keys.refuse(value_key, std::to_string(own) + ", the width of keys");
  return own;
}

Json words_of_all_decoders(const GgufKeys& keys, const DecoderForm& form) {
  const std::int64_t heads = of_each_layer(keys, "attention.head_count");
  const std::int64_t width = integer_of(keys, "embedding_length");
  const std::int64_t of_head = head_width(keys, width, heads);
  const bool is_rms = form.epsilon == "rms_norm_eps";
  const std::int64_t kv_heads = of_each_layer(keys, "attention.head_count_kv", heads);
  if (kv_heads < 1 || heads % kv_heads != 0) {
    keys.refuse(key_of(keys, "attention.head_count_kv"), "a divisor of head_count, " + std::to_string(heads));
  }
  Json words = {{"max_position_embeddings", integer_of(keys, "context_length")},
                {"num_hidden_layers", layers_of(keys)},
                {"hidden_size", width},
                {"num_attention_heads", heads},
                {"num_key_value_heads", kv_heads},
                {"head_dim", of_head},
                {"intermediate_size", feed_forward_width(keys)},
                {"tie_word_embeddings", !has_tensor(keys, "output.weight")}};
  words[std::string(form.epsilon)] =
      keys.number(key_of(keys, is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"));
  if (form.turned != TurnedPart::none) words["rope_parameters"] = rope_words(keys, of_head, form);
  return words;
}

Json decoder_words(const GgufKeys& keys, const DecoderForm& form) {
  require_absent(keys, "expert_count", "experts");
  return words_of_all_decoders(keys, form);
}

Json words_with_bias(const GgufKeys& keys, const DecoderForm& form) {
  Json words = decoder_words(keys, form);
  words["attention_bias"] = has_tensor(keys, "blk.0.attn_q.bias");
  return words;
}

Json without_usual_width(Json words) {
  const auto number = [&](const char* word) { return words[word].get<std::int64_t>(); };
  if (number("head_dim") * number("num_attention_heads") == number("hidden_size")) words.erase("head_dim");
  return words;
}

Json layer_types_of(const GgufKeys& keys, std::int64_t usual) {
  const std::string key = key_of(keys, "attention.sliding_window_pattern");
  const std::int64_t layers = layers_of(keys);
  const bool has_list = is_list(keys, key);
  const std::vector<std::int64_t> listed = has_list ? keys.integers(key) : std::vector<std::int64_t>();
  if (has_list && std::ssize(listed) != layers) keys.refuse(key, "one for each of block_count");
  const std::int64_t every = has_list ? usual : keys.integer(key, usual);
  Json types = Json::array();
  for (std::int64_t n = 0; n < layers; ++n) {
    const bool is_local = has_list ? listed[static_cast<std::size_t>(n)] != 0 : every == 0 || n % every < every - 1;
    types.push_back(is_local ? "sliding_attention" : "full_attention");
  }
  return types;
}

Json rope_by_layer(const GgufKeys& keys, const Json& full) {
  constexpr double kUsualBase = 1e4;
  const double local = keys.number(key_of(keys, "rope.freq_base_swa"), kUsualBase);
  return {{"full_attention", full}, {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
}

void add_factors(const GgufKeys& keys, Json& words) {
  words["embedding_multiplier"] = factor_of(keys, "embedding_scale");
  words["residual_multiplier"] = factor_of(keys, "residual_scale");
  words["logits_scaling"] = factor_of(keys, "logit_scale");
  const std::string scale = key_of(keys, "attention.scale");
  const auto width = static_cast<double>(words.at("head_dim").get<std::int64_t>());
  words["attention_multiplier"] =
      keys.has(scale) && keys.number(scale) != 0 ? keys.number(scale) : 1 / std::sqrt(width);
}

}  // namespace qkv::families
