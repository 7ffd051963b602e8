#include "cost/shape.h"

namespace qkv::cost_detail {
namespace {

void add_bytes(CostGroup& group, const char* key, const char* name, const Arithmetic& arithmetic) {
  group.items.push_back(item(key, name, arithmetic, CostUnit::bytes));
}

Factor element(const ModelShape& s) { return {s.bytes, "B"}; }

Arithmetic lse_bytes(const ModelShape& s) {
  return product(
      {{s.attentions(), "layers"}, {s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "tokens"}, {s.lse_bytes, "B"}});
}

Arithmetic all_weights(const ModelShape& s) {
  return product({{s.attentions(), "layers"}, {s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "", 2}, element(s)});
}

/// Rows of `width` elements for every token, `count` times.
Arithmetic rows(const ModelShape& s, const Factor& count, std::int64_t width) {
  return product({count, {s.batch, "batch"}, {s.tokens, "tokens"}, {width}, element(s)});
}

CostItem total_without(const CostGroup& group, std::string_view left_out, const char* key, const char* name) {
  std::vector<CostItem> items;
  for (const CostItem& one : group.items) {
    if (one.key != left_out) items.push_back(one);
  }
  return total_of(key, name, items);
}

}  // namespace

CostGroup scores_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{"Score matrices",
                  "Standard inference holds one layer's at a time; standard training keeps the attention weights of "
                  "every layer for the backward pass. Tiled attention keeps lse instead.",
                  {}};
  if (causal_attentions(config) > 0) {
    group.note += " A causal mask keeps " + Count(static_cast<std::uint64_t>(s.tokens * (s.tokens + 1) / 2)).grouped() +
                  " of the " + product({{s.tokens, "", 2}}).value.grouped() + " pairs; standard attention stores all.";
  }
  add_bytes(group, "scores.one_head", "one head", product({{s.tokens, "", 2}, element(s)}));
  add_bytes(group, "scores.all_heads", "all heads of one layer (standard, inference)",
            product({{s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "", 2}, element(s)}));
  add_bytes(group, "scores.all_layers", "all layers (standard, training)", all_weights(s));
  add_bytes(group, "scores.tile", "one tile (tiled, scratch of a thread, f32)",
            product({{s.tile, "", 2}, {s.lse_bytes, "B"}}));
  add_bytes(group, "scores.lse", "lse of all layers (tiled, training)", lse_bytes(s));
  return group;
}

CostGroup activations_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{
      "Activations kept for the backward pass",
      "Each sub-layer keeps its input and the normalised input. Norm statistics and dropout's masks are not "
      "counted.",
      {}};
  add_bytes(group, "activations.norms", "inputs, before and after their norms",
            rows(s, {2 * (s.attentions() + s.ffns()), "rows"}, s.d_model));
  add_bytes(group, "activations.qkv", "q, k, v",
            rows(s, {s.attentions(), "layers"}, s.heads * s.d_k + s.kv_heads * (s.d_k + s.d_v)));
  add_bytes(group, "activations.out", "out, the weighted sums", rows(s, {s.attentions(), "layers"}, s.heads * s.d_v));
  // Two of d_ff around the activation function; gated: gate, up and their product.
  add_bytes(group, "activations.ffn", "feed-forward", rows(s, {s.ffns() * s.ffn_matrices, "rows"}, s.d_ff));
  if (config.output_head != OutputHead::none) add_bytes(group, "activations.logits", "logits", rows(s, {1}, s.vocab));
  add_bytes(group, "activations.weights", "attention weights (standard)", all_weights(s));
  add_bytes(group, "activations.lse", "lse (tiled)", lse_bytes(s));
  const CostItem standard = total_without(group, "activations.lse", "activations.standard", "all, standard");
  const CostItem tiled = total_without(group, "activations.weights", "activations.tiled", "all, tiled");
  group.items.push_back(standard);
  group.items.push_back(tiled);
  return group;
}

CostGroup kv_cache_group(const ModelShape& s) {
  // In an encoder-decoder only the decoder runs token by token; it keeps its own keys and those of the cross-attention.
  const std::int64_t caches = s.decoder_layers > 0 ? 2 * s.decoder_layers : s.layers;
  CostGroup group{
      "KV cache", "What generation keeps, token by token; a model that does not generate has no use for it.", {}};
  add_bytes(group, "kv_cache.token", "one token",
            product({{caches, "layers"}, {s.kv_heads, "kv heads"}, {s.d_k + s.d_v}, element(s)}));
  add_bytes(group, "kv_cache.total", "all tokens",
            product({{s.batch, "batch"},
                     {s.tokens, "tokens"},
                     {caches, "layers"},
                     {s.kv_heads, "kv heads"},
                     {s.d_k + s.d_v},
                     element(s)}));
  return group;
}

}  // namespace qkv::cost_detail
