// ONNX Attention (opsets 23 to 25) said in qkv's words; docs/semantics.md lists where the two differ.
#include <array>
#include <limits>
#include <vector>

#include "conformance/onnx_operator.h"
#include "qkv/attention.h"
#include "qkv/heads.h"
#include "qkv/kv.h"
#include "qkv/probe.h"

namespace qkv::conformance {
namespace {

enum Input : std::uint8_t { kQ, kK, kV, kAttnMask, kPastKey, kPastValue, kNonpad };

// q, k and v as [B, H, T, D], the past in front of k and v.
struct Heads {
  TensorView q;
  Tensor k;
  Tensor v;
  std::int64_t past = 0;
};

TensorView heads_of(const Tensor& x, std::int64_t heads) { return x.rank() == 3 ? split_heads(x, heads) : x.view(); }

Heads heads_of(const OnnxCase& onnx) {
  const std::int64_t kv_heads = onnx.integer("kv_num_heads", 0);
  const TensorView k = heads_of(onnx.inputs.at(kK), kv_heads);
  const TensorView v = heads_of(onnx.inputs.at(kV), kv_heads);
  const TensorView q = heads_of(onnx.inputs.at(kQ), onnx.integer("q_num_heads", 0));
  if (!onnx.has_input(kPastKey)) return {.q = q, .k = Tensor(k), .v = Tensor(v)};
  const Tensor& past = onnx.inputs[kPastKey];
  return {.q = q, .k = concat_time(past, k), .v = concat_time(onnx.inputs[kPastValue], v), .past = past.dim(2)};
}

// Keys at most `beyond` after the query. Queries count from the top left: behind the past, or so that the last query
// meets the last key that is not padding.
Mask keys_up_to(std::int64_t beyond, const OnnxCase& onnx, const Heads& heads) {
  if (!onnx.has_input(kNonpad)) return causal(Align::top_left, heads.past + beyond);
  std::vector<std::int64_t> offsets;
  for (const std::int64_t length : onnx.inputs[kNonpad].values<std::int64_t>()) {
    offsets.push_back(length - heads.q.dim(2) + beyond);
  }
  return causal_offsets(offsets, Align::top_left);
}

// A window's side that is -1, or not there, is open.
Mask mask_of(const OnnxCase& onnx, const Heads& heads) {
  const std::int64_t left = onnx.integer("left_window_size", -1);
  const std::int64_t right = onnx.integer("right_window_size", -1);
  Mask mask;
  if (onnx.integer("is_causal", 0) != 0) mask = keys_up_to(0, onnx, heads);
  if (right >= 0) mask = mask & keys_up_to(right, onnx, heads);
  if (left >= 0) mask = mask & !keys_up_to(-left - 1, onnx, heads);
  return mask;
}

// attn_mask over all keys: opset 24 allows it to stop short of them.
Tensor widened(const Tensor& mask, std::int64_t Tk, double hidden) {
  const std::int64_t width = mask.dim(-1);
  if (width == Tk || width == 1) return mask;
  Shape shape = mask.shape();
  shape[mask.rank() - 1] = Tk;
  std::vector<double> values;
  for (const double value : mask.to_vector()) {
    values.push_back(value);
    const auto column = static_cast<std::int64_t>(values.size()) % Tk;
    if (column == width) values.insert(values.end(), static_cast<std::size_t>(Tk - width), hidden);
  }
  return Tensor(values, shape).to(mask.dtype());
}

AttentionOptions options_of(const OnnxCase& onnx, const Heads& heads) {
  constexpr double kNegativeInfinity = -std::numeric_limits<double>::infinity();
  AttentionOptions options = {.target = onnx.target};
  if (onnx.has("scale")) options.scale = onnx.number("scale", 0);
  if (onnx.number("softcap", 0) != 0) options.softcap = onnx.number("softcap", 0);
  options.mask = mask_of(onnx, heads);
  if (onnx.has_input(kNonpad)) {
    const auto lengths = onnx.inputs[kNonpad].values<std::int64_t>();
    options.mask = options.mask & key_lengths({lengths.begin(), lengths.end()});
  }
  if (!onnx.has_input(kAttnMask)) return options;
  const Tensor& mask = onnx.inputs[kAttnMask];
  if (mask.dtype() == DType::b8) {
    options.mask = options.mask & dense(widened(mask, heads.k.dim(2), 0));
  } else {
    options.bias = dense_bias(widened(mask, heads.k.dim(2), kNegativeInfinity));
  }
  return options;
}

Stage stage_of(std::int64_t qk_matmul_output_mode) {
  switch (qk_matmul_output_mode) {
    case 0:
      return Stage::scaled;
    case 1:
      return Stage::softcapped;
    case 2:
      return Stage::masked;
    default:
      return Stage::weights;
  }
}

// Made row by row by the probe, which stores no T x T: here put together again.
Tensor intermediate(const Heads& heads, const AttentionOptions& options, Stage stage) {
  const Probe probe(heads.q, heads.k, options);
  const auto [B, H, Tq, Tk] = probe.shape();
  Tensor all(heads.q.dtype(), {B, H, Tq, Tk});
  for (std::int64_t row = 0; row < B * H * Tq; ++row) {
    const HeadPlace head = {row / Tq / H, row / Tq % H};
    all.store_row(std::array{head.b, head.h, row % Tq}, probe.row(head, row % Tq, stage).to_vector());
  }
  return all;
}

}  // namespace

std::vector<Tensor> run_attention(const OnnxCase& onnx) {
  const Heads heads = heads_of(onnx);
  const AttentionOptions options = options_of(onnx, heads);
  Tensor out = attention(heads.q, heads.k, heads.v, options).out;
  if (onnx.inputs[kQ].rank() == 3) out = merge_heads(out);
  const Stage stage = stage_of(onnx.integer("qk_matmul_output_mode", 0));
  return {out, heads.k, heads.v, intermediate(heads, options, stage)};
}

}  // namespace qkv::conformance
