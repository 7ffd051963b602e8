// A configuration with every default filled in, and the counts that several groups share.
#pragma once

#include "cost/arithmetic.h"

namespace qkv::cost_detail {

struct ModelShape {
  std::int64_t layers;
  std::int64_t decoder_layers;
  std::int64_t d_model;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t d_k;
  std::int64_t d_v;
  std::int64_t d_ff;
  std::int64_t ffn_matrices;  // 2, or 3 where gated
  std::int64_t vocab;
  std::int64_t tokens;
  std::int64_t batch;
  std::int64_t bytes;      // of one element
  std::int64_t lse_bytes;  // of one element of lse
  std::int64_t tile;

  /// Attentions in the whole model: a decoder layer has two.
  [[nodiscard]] std::int64_t attentions() const { return layers + 2 * decoder_layers; }
  [[nodiscard]] std::int64_t ffns() const { return layers + decoder_layers; }
};

/// Throws InvalidArgument naming the option at fault.
[[nodiscard]] CostConfig resolved(const CostConfig& config);
[[nodiscard]] ModelShape shape_of(const CostConfig& resolved_config);

/// The part of one head's T x T scores that the tiled algorithm visits; causal: tiles above the diagonal are skipped.
struct Visits {
  Arithmetic pairs;      // scores computed
  Arithmetic row_tiles;  // (query, key tile) pairs: how often a row of q meets a tile
  Arithmetic key_tiles;  // (key, query tile) pairs: how often a row of k and v is read
};
[[nodiscard]] Visits visits(const ModelShape& shape, bool causal);

/// How many of the model's attentions are causal.
[[nodiscard]] std::int64_t causal_attentions(const CostConfig& config);

[[nodiscard]] CostItem item(std::string key, std::string name, const Arithmetic& arithmetic, CostUnit unit);
/// The sum of the group's items so far, shown as "a + b + c" of their values.
[[nodiscard]] CostItem total_of(std::string key, std::string name, const std::vector<CostItem>& items);

[[nodiscard]] CostGroup weights_group(const CostConfig& config, const ModelShape& shape);
[[nodiscard]] CostGroup training_state_group(const CostItem& parameters, const ModelShape& shape);
[[nodiscard]] CostGroup layer_flops_group(const ModelShape& shape);
[[nodiscard]] CostGroup model_flops_group(const CostConfig& config, const ModelShape& shape);
[[nodiscard]] CostGroup tiled_flops_group(const CostConfig& config, const ModelShape& shape);
[[nodiscard]] CostGroup scores_group(const CostConfig& config, const ModelShape& shape);
[[nodiscard]] CostGroup activations_group(const CostConfig& config, const ModelShape& shape);
[[nodiscard]] CostGroup kv_cache_group(const ModelShape& shape);
[[nodiscard]] CostGroup traffic_group(const CostConfig& config, const ModelShape& shape);

}  // namespace qkv::cost_detail
