// What attention costs, as a request and its reply: a table with arithmetic, or a chart over the sequence length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qkv/cost.h"
#include "qkv/picture/chart.h"
#include "qkv/view/field.h"

namespace qkv {

/// A preset, or layers, d_model and heads; what else is given replaces the preset's.
struct CostRequest {
  std::string preset;
  std::optional<std::int64_t> layers, decoder_layers, d_model, heads, kv_heads, d_k, d_v, d_ff;
  std::optional<bool> gated;
  std::optional<std::int64_t> vocab;
  std::optional<bool> causal;
  std::optional<std::int64_t> tokens, batch;
  std::string dtype = "f32";
  std::optional<std::int64_t> tile;
};

[[nodiscard]] const Fields<CostRequest>& cost_fields();

/// Throws InvalidArgument for an unknown preset or dtype, and for neither a preset nor a shape.
[[nodiscard]] CostConfig cost_config(const CostRequest& request);

/// Every figure with its arithmetic, in lines of at most `width` columns.
[[nodiscard]] std::string as_text(const CostReport& report, int width);

/// {"config", "groups"}: values as numbers, and as exact texts where they pass 2^64.
[[nodiscard]] std::string as_json(const CostReport& report);

struct CostRange {
  std::string of = "memory";  // or "flops", "traffic"
  std::int64_t from = 128;
  std::int64_t to = 131072;
};

[[nodiscard]] const Fields<CostRange>& cost_range_fields();

/// One point at `from`, at each doubling of it, and at `to`. Throws InvalidArgument naming of, from or to.
[[nodiscard]] Chart cost_chart(const CostConfig& config, const CostRange& range);

}  // namespace qkv
