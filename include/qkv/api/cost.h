// What attention costs, as a request and its reply: a table with arithmetic, or a chart over the sequence length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/cost.h"
#include "qkv/picture/chart.h"

namespace qkv {

/// The lines over the sequence length.
struct CostRange {
  std::string of = "memory";  // or "flops", "traffic"
  std::int64_t from = 128;
  std::int64_t to = 131072;
};

[[nodiscard]] const Fields<CostRange>& cost_range_fields();

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
  CostRange range;
};

[[nodiscard]] const Fields<CostRequest>& cost_fields();

/// Throws InvalidArgument for an unknown preset or dtype, and for neither a preset nor a shape.
[[nodiscard]] CostConfig cost_config(const CostRequest& request);

/// Every figure with its arithmetic, in lines of at most `width` columns.
[[nodiscard]] std::string as_text(const CostReport& report, int width);

struct CostItemShown {
  std::string key, name, unit, exact, arithmetic, amount;
  double value = 0;
};

struct CostGroupShown {
  std::string title, note;
  std::vector<CostItemShown> items;
};

/// The model whose costs are shown, with every default filled in.
struct CostModelShown {
  std::string name;
  std::int64_t layers = 0, decoder_layers = 0;
  std::int64_t d_model = 0, heads = 0, kv_heads = 0, d_k = 0, d_v = 0, d_ff = 0;
  bool gated = false;
  std::int64_t vocab = 0;
  bool causal = false;
  std::int64_t tokens = 0, batch = 0;
  std::string dtype;
  std::int64_t tile = 0;
};

struct CostLine {
  std::string name;
  std::vector<double> x, y;
};

/// Every figure with its arithmetic, and lines over the sequence length.
struct CostReply {
  std::string title;
  CostModelShown model;
  std::vector<CostGroupShown> groups;
  std::string x_axis, y_axis;
  std::vector<CostLine> lines;
  std::vector<std::string> presets;
};

/// Throws as cost_config() and cost_chart().
[[nodiscard]] CostReply answer(const CostRequest& request);

[[nodiscard]] Members<CostItemShown> describe(const CostItemShown* item);
[[nodiscard]] Members<CostGroupShown> describe(const CostGroupShown* group);
[[nodiscard]] Members<CostModelShown> describe(const CostModelShown* model);
[[nodiscard]] Members<CostLine> describe(const CostLine* line);
[[nodiscard]] Members<CostReply> describe(const CostReply* figures);

/// One point at `from`, at each doubling of it, and at `to`. Throws InvalidArgument naming of, from or to.
[[nodiscard]] Chart cost_chart(const CostConfig& config, const CostRange& range);

/// For whoever sees the chart alone. Throws InvalidArgument naming a field of the model that makes it another model, of
/// which the chart is the same.
void require_changed_chart(const CostRequest& request);

}  // namespace qkv
