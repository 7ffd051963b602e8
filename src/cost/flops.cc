#include "cost/shape.h"

namespace qkv::cost_detail {
namespace {

Arithmetic projection(const ModelShape& s, std::int64_t heads, const char* heads_name, std::int64_t width) {
  return product({{2}, {s.batch, "batch"}, {s.tokens, "tokens"}, {s.d_model}, {heads, heads_name}, {width}});
}

/// `each` FLOPs for every score of every head of one attention.
Arithmetic per_score(const ModelShape& s, std::int64_t each) {
  return product({{each}, {s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "", 2}});
}

Arithmetic score_product(const ModelShape& s, std::int64_t width) {
  return product({{2}, {s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "", 2}, {width}});
}

Arithmetic logits(const ModelShape& s) {
  return product({{2}, {s.batch, "batch"}, {s.tokens, "tokens"}, {s.d_model}, {s.vocab, "words"}});
}

/// The products with parameters of one attention.
Count projections(const ModelShape& s) {
  return projection(s, s.heads, "", s.d_k).value + projection(s, s.kv_heads, "", s.d_k).value +
         projection(s, s.kv_heads, "", s.d_v).value + projection(s, s.heads, "", s.d_v).value;
}

Arithmetic ffn(const ModelShape& s) {
  return product({{2}, {s.batch, "batch"}, {s.tokens, "tokens"}, {s.d_model}, {s.d_ff}, {s.ffn_matrices, "matrices"}});
}

constexpr std::int64_t kSoftmaxForward = 6;   // scale, max, -, exp, +, /
constexpr std::int64_t kSoftmaxBackward = 5;  // P * dP, sum of the row, dP - sum, * P, scale

Arithmetic multiple(std::int64_t count, const char* name, Count value) {
  return times({count, name}, {value, value.grouped()});
}

void add_flops(CostGroup& group, const char* key, const char* name, const Arithmetic& arithmetic) {
  group.items.push_back(item(key, name, arithmetic, CostUnit::flops));
}

CostItem sum(const char* key, const char* name, const CostItem& a, const CostItem& b) {
  return total_of(key, name, {a, b});
}

/// FLOPs of the tiled core of one attention.
struct TiledCore {
  Arithmetic forward;
  Arithmetic backward;
};

TiledCore tiled_core(const ModelShape& s, bool causal) {
  const Visits seen = visits(s, causal);
  const auto heads = [&](const Arithmetic& each) {
    return multiple(s.batch * s.heads, s.batch == 1 ? "heads" : "batch × heads", each.value);
  };
  const auto pairs = [&](std::int64_t each) { return count_of(each) * seen.pairs.value; };
  const Count rows = count_of(s.tokens) * count_of(s.d_v);
  // 5 a score: scale, max, -, exp, +; the accumulator is rescaled at every key tile and divided once.
  const Count forward = pairs(2 * s.d_k + 2 * s.d_v + 5) + seen.row_tiles.value * count_of(s.d_v) + rows;
  // Five products; 3 a score to recompute P from lse, 3 for dS; delta = the row sums of dO * O.
  const Count backward = pairs(6 * s.d_k + 4 * s.d_v + 6) + count_of(2) * rows;
  return {heads({forward, ""}), heads({backward, ""})};
}

}  // namespace

CostGroup layer_flops_group(const ModelShape& s) {
  CostGroup group{"FLOPs of one layer, forward",
                  "A multiply-add is 2. Softmax is 6 a score: scale, max, subtract, exp, add, divide. Norms, biases, "
                  "activations and residuals, which grow with tokens × d_model alone, are not counted.",
                  {}};
  add_flops(group, "flops.layer.q", "Q = X W_Q", projection(s, s.heads, "heads", s.d_k));
  add_flops(group, "flops.layer.k", "K = X W_K", projection(s, s.kv_heads, "kv heads", s.d_k));
  add_flops(group, "flops.layer.v", "V = X W_V", projection(s, s.kv_heads, "kv heads", s.d_v));
  add_flops(group, "flops.layer.scores", "Q K^T", score_product(s, s.d_k));
  add_flops(group, "flops.layer.softmax", "scale and softmax", per_score(s, kSoftmaxForward));
  add_flops(group, "flops.layer.weighted_sum", "attention weights · V", score_product(s, s.d_v));
  add_flops(group, "flops.layer.output", "output projection W_O", projection(s, s.heads, "heads", s.d_v));
  add_flops(group, "flops.layer.ffn", "feed-forward", ffn(s));
  group.items.push_back(total_of("flops.layer.total", "one layer", group.items));
  return group;
}

CostGroup model_flops_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{"FLOPs of the model, standard attention",
                  "Backward: each product of the forward brings two of its size; softmax brings 5 a score. Standard "
                  "attention computes the scores that a causal mask hides, too.",
                  {}};
  const Count products = score_product(s, s.d_k).value + score_product(s, s.d_v).value;
  const Count weights = count_of(s.attentions()) * projections(s) + count_of(s.ffns()) * ffn(s).value +
                        (config.output_head == OutputHead::none ? Count() : logits(s).value);
  const Count forward_core = products + per_score(s, kSoftmaxForward).value;
  const Count backward_core = count_of(2) * products + per_score(s, kSoftmaxBackward).value;

  add_flops(group, "flops.model.projections", "Q, K, V and output projections",
            multiple(s.attentions(), "layers", projections(s)));
  add_flops(group, "flops.model.ffn", "feed-forward", multiple(s.ffns(), "layers", ffn(s).value));
  if (config.output_head != OutputHead::none) add_flops(group, "flops.model.logits", "logits", logits(s));
  add_flops(group, "flops.model.core", "scores, softmax, weighted sum",
            multiple(s.attentions(), "layers", forward_core));
  const CostItem forward = total_of("flops.forward", "forward", group.items);
  group.items.push_back(forward);
  add_flops(group, "flops.backward.weights", "backward of the products with parameters", multiple(2, "", weights));
  add_flops(group, "flops.backward.core", "backward of the core", multiple(s.attentions(), "layers", backward_core));
  const CostItem backward = sum("flops.backward", "backward", group.items[group.items.size() - 2], group.items.back());
  group.items.push_back(backward);
  group.items.push_back(sum("flops.training", "training step: forward and backward", forward, backward));
  return group;
}

CostGroup tiled_flops_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{"FLOPs of the core, tiled attention",
                  "Tiles that a causal mask hides are skipped. Per score visited: 2 d_k + 2 d_v + 5 forward; 6 d_k + 4 "
                  "d_v + 6 backward, of which 2 d_k + 3 recompute the attention weights from lse.",
                  {}};
  const std::int64_t causal = causal_attentions(config);
  const TiledCore hidden = tiled_core(s, true);
  const TiledCore full = tiled_core(s, false);
  const auto all = [&](const Arithmetic& with_mask, const Arithmetic& without) {
    Arithmetic masked = times({causal, "causal layers"}, with_mask);
    Arithmetic open = times({s.attentions() - causal, "layers"}, without);
    if (causal == 0) return open;
    return causal == s.attentions() ? masked : masked + open;
  };
  const auto recomputed = [&](bool masked) {
    const Count one = count_of(2 * s.d_k + 3) * visits(s, masked).pairs.value;
    return multiple(s.batch * s.heads, s.batch == 1 ? "heads" : "batch × heads", one);
  };
  add_flops(group, "flops.tiled.core.forward", "forward", all(hidden.forward, full.forward));
  add_flops(group, "flops.tiled.core.backward", "backward", all(hidden.backward, full.backward));
  add_flops(group, "flops.tiled.recomputed", "of these, recomputed in the backward",
            all(recomputed(true), recomputed(false)));
  return group;
}

}  // namespace qkv::cost_detail
