// What attention costs, for the page: every figure with its arithmetic, and lines over the length.
#include <fmt/format.h>

#include "qkv/view/patterns.h"
#include "view/studio_questions.h"

namespace qkv {
namespace {

CostShownReply answer_cost(view_detail::StudioState& /*needs none*/, const CostShownRequest& request,
                           const StudioWatch& /*quick*/) {
  CostShownRequest asked = request;
  if (asked.preset.empty() && !asked.layers) asked.preset = "gpt3";
  const CostConfig config = cost_config(asked);
  const CostReport report = cost(config);
  CostShownReply reply;
  reply.title = fmt::format("{}, {} tokens", report.config.name, report.config.tokens);
  for (const CostGroup& group : report.groups) {
    CostGroupShown shown{.title = group.title, .note = group.note, .items = {}};
    for (const CostItem& item : group.items) {
      shown.items.push_back({.key = item.key,
                             .name = item.name,
                             .arithmetic = item.arithmetic,
                             .amount = amount_text(item.value, item.unit),
                             .value = item.value.to_double()});
    }
    reply.groups.push_back(std::move(shown));
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

const Members<CostShownReply>& members_of(const CostShownReply* /*type*/) {
  using R = CostShownReply;
  static const auto kMembers = Members<R>("CostShownReply")
                                   .add(&R::title, "title", "Model and length")
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
