// What attention costs, for the page: every figure with its arithmetic, and lines over the length.
#include <fmt/format.h>

#include "qkv/view/patterns.h"
#include "view/studio_questions.h"

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

CostShownReply answer_cost(view_detail::StudioState& /*needs none*/, const CostShownRequest& request,
                           const StudioWatch& /*quick*/) {
  CostShownRequest asked = request;
  if (asked.preset.empty() && !asked.layers) asked.preset = "gpt3";
  const CostConfig config = cost_config(asked);
  const CostReport report = cost(config);
  CostShownReply reply;
  reply.title = fmt::format("{}, {} tokens", report.config.name, report.config.tokens);
  reply.model = shown(report.config);
  for (const CostGroup& group : report.groups) {
    CostGroupShown figures{.title = group.title, .note = group.note, .items = {}};
    for (const CostItem& item : group.items) {
      figures.items.push_back({.key = item.key,
                               .name = item.name,
                               .arithmetic = item.arithmetic,
                               .amount = amount_text(item.value, item.unit),
                               .value = item.value.to_double()});
    }
    reply.groups.push_back(std::move(figures));
  }
  CostRange range;
  range.of = request.of;
  const Chart chart = cost_chart(config, range);
  reply.x_axis = chart.x.name;
  reply.y_axis = chart.y.name;
  for (const Series& one : chart.series) reply.lines.push_back({one.name, one.x, one.y});
  reply.presets = cost_presets();
  return reply;
}

}  // namespace

const Fields<CostShownRequest>& cost_shown_fields() {
  static const Fields<CostShownRequest> kFields = [] {
    Fields<CostShownRequest> fields;
    fields.add(cost_fields());
    fields.add(&CostShownRequest::of,
               {.name = "of", .meaning = "What the lines show", .words = {"memory", "flops", "traffic"}});
    return fields;
  }();
  return kFields;
}

const Members<CostItemShown>& members_of(const CostItemShown* /*type*/) {
  static const auto kMembers = Members<CostItemShown>("CostItemShown")
                                   .add(&CostItemShown::key, "key", "A stable name")
                                   .add(&CostItemShown::name, "name", "What it is")
                                   .add(&CostItemShown::arithmetic, "arithmetic", "How it is computed")
                                   .add(&CostItemShown::amount, "amount", "In full, and short")
                                   .add(&CostItemShown::value, "value", "As a number");
  return kMembers;
}

const Members<CostGroupShown>& members_of(const CostGroupShown* /*type*/) {
  static const auto kMembers = Members<CostGroupShown>("CostGroupShown")
                                   .add(&CostGroupShown::title, "title", "Of the group")
                                   .add(&CostGroupShown::note, "note", "What is counted and what is not")
                                   .add(&CostGroupShown::items, "items", "Its figures");
  return kMembers;
}

const Members<CostLine>& members_of(const CostLine* /*type*/) {
  static const auto kMembers = Members<CostLine>("CostLine")
                                   .add(&CostLine::name, "name", "Of the line")
                                   .add(&CostLine::x, "x", "Tokens")
                                   .add(&CostLine::y, "y", "As many numbers");
  return kMembers;
}

const Members<CostModelShown>& members_of(const CostModelShown* /*type*/) {
  using M = CostModelShown;
  static const auto kMembers =
      Members<M>("CostModelShown")
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
  return kMembers;
}

const Members<CostShownReply>& members_of(const CostShownReply* /*type*/) {
  using R = CostShownReply;
  static const auto kMembers = Members<R>("CostShownReply")
                                   .add(&R::title, "title", "Model and length")
                                   .add(&R::model, "model", "Every number of the model, defaults filled in")
                                   .add(&R::groups, "groups", "Every figure with its arithmetic")
                                   .add(&R::x_axis, "x_axis", "Of the lines")
                                   .add(&R::y_axis, "y_axis", "Of the lines")
                                   .add(&R::lines, "lines", "Over the length, both axes logarithmic")
                                   .add(&R::presets, "presets", "Models that are known by name");
  return kMembers;
}

view_detail::Answerer view_detail::cost_question() {
  return answerer<CostShownRequest, CostShownReply>("cost", "What a transformer costs, figure by figure.",
                                                    cost_shown_fields(), answer_cost,
                                                    {"{}", R"({"preset": "bert-base", "of": "flops"})"});
}

}  // namespace qkv
