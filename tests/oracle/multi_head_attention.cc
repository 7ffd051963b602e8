#include "oracle/multi_head_attention.h"

#include <vector>

#include "oracle/heads.h"
#include "oracle/rotary.h"

namespace qkv::oracle {
namespace {

std::int64_t width_of_head(const MultiHeadOptions& options) {
  return options.d_k.value_or(options.d_model / options.heads);
}

AttentionOptions with_those_of_the_layer(const AttentionOptions& call, const MultiHeadOptions& layer) {
  AttentionOptions all = call;
  if (!all.scale) all.scale = layer.scale;
  if (!all.softcap) all.softcap = layer.softcap;
  if (layer.window) all.mask = all.mask & window(*layer.window);
  return all;
}

}  // namespace

Tensor MultiHeadAttention::forward(const TensorView& x, const AttentionOptions& attention,
                                   const std::optional<TensorView>& positions) const {
  if (!options.rotary) return run(x, x, attention, std::nullopt);
  return run(x, x, attention,
             positions ? rotary_tables(*options.rotary, *positions) : rotary_tables(*options.rotary, x.dim(1)));
}

Tensor MultiHeadAttention::forward_cross(const TensorView& x, const TensorView& context,
                                         const AttentionOptions& attention) const {
  return run(x, context, attention, std::nullopt);
}

// q or k of one head, [B, 1, T, D].
Tensor MultiHeadAttention::head(const Linear& map, const std::optional<Norm>& norm, const TensorView& x, std::int64_t h,
                                const std::optional<RotaryTables>& tables) const {
  const std::int64_t d_k = width_of_head(options);
  Tensor projected = map.slice(h * d_k, (h + 1) * d_k).forward(x);
  if (norm) projected = norm->forward(projected);
  Tensor alone(projected.view().unsqueeze(1));
  return tables ? apply_rotary(alone, *tables) : alone;
}

Tensor MultiHeadAttention::run(const TensorView& x, const TensorView& context, const AttentionOptions& attention,
                               const std::optional<RotaryTables>& tables) const {
  const AttentionOptions all = with_those_of_the_layer(attention, options);
  const std::int64_t group = options.heads / options.kv_heads.value_or(options.heads);
  const std::int64_t d_v = options.d_v.value_or(width_of_head(options));
  std::vector<Tensor> outputs;
  for (std::int64_t h = 0; h < options.heads; ++h) {
    const std::int64_t kv = h / group;
    const Tensor q_of_head = head(q, q_norm, x, h, tables);
    const Tensor k_of_head = head(k, k_norm, context, kv, tables);
    const Tensor v_of_head = v.slice(kv * d_v, (kv + 1) * d_v).forward(context);
    outputs.push_back(attend_one({.q = q_of_head, .k = k_of_head, .v = v_of_head.view().unsqueeze(1)}, all,
                                 {.h = h, .of = options.heads}));
  }
  return out.forward(join_heads(outputs));
}

}  // namespace qkv::oracle
