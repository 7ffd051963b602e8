// What attention costs as data: every figure with its arithmetic.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "qkv/api/cost.h"

namespace qkv {
namespace {

CostModelShown shown(const CostConfig& c) {
  return {.name = c.name,
          .layers = c.layers,
          .decoder_layers = c.decoder_layers,
          .d_model = c.d_model,
          .heads = c.heads,
          .kv_heads = *c.kv_heads,
          .d_k = *c.d_k,
          .d_v = *c.d_v,
          .d_ff = *c.d_ff,
          .gated = c.gated_ffn,
          .vocab = c.vocab,
          .causal = c.causal,
          .tokens = c.tokens,
          .batch = c.batch,
          .dtype = std::string(name_of(c.dtype)),
          .tile = c.tile};
}

CostItemShown shown(const CostItem& item) {
  static constexpr std::array<std::string_view, 3> kUnits = {"parameters", "flops", "bytes"};
  return {.key = item.key,
          .name = item.name,
          .unit = std::string(kUnits.at(static_cast<std::size_t>(item.unit))),
          .exact = item.value.to_string(),
          .arithmetic = item.arithmetic,
          .amount = amount_text(item.value, item.unit),
          .value = item.value.to_double()};
}

}  // namespace

CostReply answer(const CostRequest& request) {
  const CostConfig config = cost_config(request);
  const CostReport report = cost(config);
  CostReply figures;
  figures.title = fmt::format("{}, {} tokens", report.config.name, report.config.tokens);
  figures.model = shown(report.config);
  for (const CostGroup& group : report.groups) {
    CostGroupShown shown_group{.title = group.title, .note = group.note, .items = {}};
    for (const CostItem& item : group.items) shown_group.items.push_back(shown(item));
    figures.groups.push_back(std::move(shown_group));
  }
  const Chart chart = cost_chart(config, request.range);
  figures.x_axis = chart.x.name;
  figures.y_axis = chart.y.name;
  for (const Series& one : chart.series) figures.lines.push_back({one.name, one.x, one.y});
  figures.presets = cost_presets();
  return figures;
}

Members<CostItemShown> describe(const CostItemShown* /*type*/) {
  return Members<CostItemShown>("CostItemShown")
      .add(&CostItemShown::key, "key", "A stable name")
      .add(&CostItemShown::name, "name", "What it is")
      .add(&CostItemShown::unit, "unit", "parameters, flops or bytes")
      .add(&CostItemShown::exact, "exact", "The number, digit by digit")
      .add(&CostItemShown::arithmetic, "arithmetic", "How it is computed")
      .add(&CostItemShown::amount, "amount", "In full, and short")
      .add(&CostItemShown::value, "value", "The number as the nearest double");
}

Members<CostGroupShown> describe(const CostGroupShown* /*type*/) {
  return Members<CostGroupShown>("CostGroupShown")
      .add(&CostGroupShown::title, "title", "Of the group")
      .add(&CostGroupShown::note, "note", "What is counted and what is not")
      .add(&CostGroupShown::items, "items", "Its figures");
}

Members<CostModelShown> describe(const CostModelShown* /*type*/) {
  using M = CostModelShown;
  return Members<M>("CostModelShown")
      .add(&M::name, "name", "A preset, or custom")
      .add(&M::layers, "layers", "Layers")
      .add(&M::decoder_layers, "decoder_layers", "Decoder layers with cross-attention, too")
      .add(&M::d_model, "d_model", "Width of the model")
      .add(&M::heads, "heads", "Query heads")
      .add(&M::kv_heads, "kv_heads", "Heads of keys and values")
      .add(&M::d_k, "d_k", "Width of a query and a key")
      .add(&M::d_v, "d_v", "Width of a value")
      .add(&M::d_ff, "d_ff", "Width of the feed-forward layer")
      .add(&M::gated, "gated", "A feed-forward layer of three matrices")
      .add(&M::vocab, "vocab", "Words of the vocabulary; 0: none counted")
      .add(&M::causal, "causal", "Each token sees itself and earlier ones alone")
      .add(&M::tokens, "tokens", "Tokens of a sequence")
      .add(&M::batch, "batch", "Sequences at once")
      .add(&M::dtype, "dtype", "f64, f32, f16 or bf16")
      .add(&M::tile, "tile", "Side of the tiled algorithm's tiles");
}

Members<CostLine> describe(const CostLine* /*type*/) {
  return Members<CostLine>("CostLine")
      .add(&CostLine::name, "name", "Of the line")
      .add(&CostLine::x, "x", "Tokens")
      .add(&CostLine::y, "y", "As many numbers");
}

Members<CostReply> describe(const CostReply* /*type*/) {
  using F = CostReply;
  return Members<F>("CostReply")
      .add(&F::title, "title", "Model and length")
      .add(&F::model, "model", "Every number of the model, defaults filled in")
      .add(&F::groups, "groups", "Every figure with its arithmetic")
      .add(&F::x_axis, "x_axis", "Of the lines")
      .add(&F::y_axis, "y_axis", "Of the lines")
      .add(&F::lines, "lines", "Over the length, both axes logarithmic")
      .add(&F::presets, "presets", "Models that are known by name");
}

}  // namespace qkv
