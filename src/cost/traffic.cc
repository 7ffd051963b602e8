#include "cost/shape.h"

namespace qkv::cost_detail {
namespace {

Arithmetic matrices(const ModelShape& s, std::int64_t passes) {
  return product({{passes, "passes"}, {s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "", 2}, {s.bytes, "B"}});
}

/// `width` elements a token.
Arithmetic vectors(const ModelShape& s, std::int64_t width) {
  return product({{s.batch, "batch"}, {s.tokens, "tokens"}, {width}, {s.bytes, "B"}});
}

/// Elements a token of q (or d_q), of k and v, and of out (or d_out).
struct Widths {
  std::int64_t q;
  std::int64_t kv;
  std::int64_t out;
};

Widths widths(const ModelShape& s) { return {s.heads * s.d_k, s.kv_heads * (s.d_k + s.d_v), s.heads * s.d_v}; }

Arithmetic standard_forward(const ModelShape& s) {
  const Widths w = widths(s);
  return matrices(s, 4) + vectors(s, w.q + w.kv + w.out);
}

Arithmetic standard_backward(const ModelShape& s) {
  const Widths w = widths(s);
  return matrices(s, 7) + vectors(s, 2 * w.q + 2 * w.kv + 2 * w.out);
}

/// Per head: `visited` times `bytes`.
Arithmetic visiting(const ModelShape& s, const Arithmetic& visited, std::int64_t bytes) {
  return {count_of(s.batch * s.heads) * visited.value * count_of(bytes),
          product({{s.batch, "batch"}, {s.heads, "heads"}}).text + " × " + visited.value.grouped() + " × " +
              std::to_string(bytes) + " B"};
}

Arithmetic lse(const ModelShape& s) {
  return product({{s.batch, "batch"}, {s.heads, "heads"}, {s.tokens, "tokens"}, {s.lse_bytes, "B"}});
}

Arithmetic tiled_forward(const ModelShape& s, bool causal) {
  const Widths w = widths(s);
  return visiting(s, visits(s, causal).key_tiles, (s.d_k + s.d_v) * s.bytes) + vectors(s, w.q + w.out) + lse(s);
}

Arithmetic tiled_backward(const ModelShape& s, bool causal) {
  const Widths w = widths(s);
  // For every key tile: q, d_out, lse and delta in; d_q in and out. delta itself: out and d_out in, delta out.
  const std::int64_t each = (3 * s.d_k + s.d_v) * s.bytes + 2 * s.lse_bytes;
  return visiting(s, visits(s, causal).row_tiles, each) + vectors(s, 2 * w.kv + 2 * w.out) + lse(s);
}

}  // namespace

CostGroup traffic_group(const CostConfig& config, const ModelShape& s) {
  CostGroup group{
      "Memory traffic of one attention's core",
      "Bytes read from and written to main memory when nothing but a tile stays in cache. Standard forward: "
      "write S, read S, write P, read P; backward: P twice, dP and dS each written, dP read once, dS twice. "
      "Tiled: k and v once for each tile of queries; backward: q, d_out and d_q once for each tile of keys.",
      {}};
  const bool causal = config.causal;
  const auto add = [&](const char* key, const char* name, const Arithmetic& arithmetic) {
    group.items.push_back(item(key, name, arithmetic, CostUnit::bytes));
  };
  add("traffic.standard.forward", "standard, forward", standard_forward(s));
  add("traffic.standard.backward", "standard, backward", standard_backward(s));
  add("traffic.tiled.forward", causal ? "tiled, forward, causal tiles skipped" : "tiled, forward",
      tiled_forward(s, causal));
  add("traffic.tiled.backward", causal ? "tiled, backward, causal tiles skipped" : "tiled, backward",
      tiled_backward(s, causal));
  return group;
}

}  // namespace qkv::cost_detail
