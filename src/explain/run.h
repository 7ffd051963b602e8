// One pass of the engine over the reader's text (or tensors), with every intermediate that the sections show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/attention.h"
#include "qkv/explain.h"

namespace qkv::explain_detail {

/// Drawn once from the seed, in f64, laid out [inputs, outputs]: x W, as the formulas have it.
struct DrawnParameters {
  Tensor embedding;  // [vocabulary, d_model]
  Tensor w_q;        // [d_model, H d_k]
  Tensor w_k;        // [d_model, H d_k]
  Tensor w_v;        // [d_model, H d_v]
  Tensor w_o;        // [H d_v, d_model]
  Tensor w_1;        // [d_model, 4 d_model]; a block only
  Tensor w_2;        // [4 d_model, d_model]
  Tensor learned;    // [max(Tq, Tk), d_model]; learned positions only
  Tensor t5;         // [32, H]; t5 positions only
};

/// One side's way from words to vectors.
struct Side {
  std::vector<std::string> tokens;
  std::vector<std::int64_t> ids;
  Tensor embedded;  // [T, d_model]
  Tensor encoding;  // [T, d_model]; empty where positions are not added
  Tensor x;         // [T, d_model]
};

/// What a block makes around its attention, each [T, d_model] but for `up` and `activated` [T, 4 d_model].
struct BlockRun {
  Tensor norm_1;
  Tensor residual_1;
  Tensor norm_2;
  Tensor up;
  Tensor activated;
  Tensor down;
  Tensor residual_2;
  Tensor result;
};

struct Run {
  std::int64_t heads = 0;     // Hq
  std::int64_t kv_heads = 0;  // Hk
  std::int64_t d_k = 0;
  std::int64_t d_v = 0;
  Side queries;
  Side keys;                     // a copy of `queries` in self-attention
  std::int64_t first_query = 0;  // the place in the text of the first query: of a long text, queries are some of it
  Tensor q_plain;                // before rotation; empty where positions do not rotate
  Tensor k_plain;
  Tensor q;                    // [1, Hq, Tq, d_k], as the scores see it
  Tensor k;                    // [1, Hk, Tk, d_k]
  Tensor v;                    // [1, Hk, Tk, d_v]
  AttentionOptions attention;  // scale, softcap, mask and bias, positions' bias included
  Tensor out;                  // [1, Hq, Tq, d_v]
  Tensor concat;               // [Tq, Hq d_v]
  Tensor output;               // [Tq, d_model]; empty for the reader's own tensors
  std::optional<BlockRun> block;

  [[nodiscard]] std::int64_t tq() const { return q.dim(2); }
  [[nodiscard]] std::int64_t tk() const { return k.dim(2); }
  [[nodiscard]] MaskShape shape() const { return {1, heads, tq(), tk()}; }
  [[nodiscard]] double scale() const;
  /// The weights that the values are multiplied by.
  [[nodiscard]] Stage last_stage() const { return attention.dropout ? Stage::dropped : Stage::weights; }
  /// The engine's T x T intermediate, [1, Hq, Tq, Tk] f64.
  [[nodiscard]] Tensor stage(Stage stage) const { return attention_stage(q, k, attention, stage); }
};

/// [1, H, T, D] -> [T, H * D].
[[nodiscard]] Tensor pack_heads(const TensorView& split);

}  // namespace qkv::explain_detail
