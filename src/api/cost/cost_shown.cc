// What attention costs, for the page: its figures, and lines over the length.
#include "api/studio/studio_questions.h"
#include "qkv/api/patterns.h"

namespace qkv {
namespace {

CostShownReply answer_cost(api_detail::StudioState& /*needs none*/, const CostShownRequest& request,
                           const StudioWatch& /*quick*/) {
  CostShownRequest asked = request;
  if (asked.preset.empty() && !asked.layers) asked.preset = "gpt3";
  const CostConfig config = cost_config(asked);
  CostShownReply reply;
  static_cast<CostFigures&>(reply) = cost_figures(cost(config));
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
                                   .add(members_of(static_cast<const CostFigures*>(nullptr)))
                                   .add(&R::x_axis, "x_axis", "Of the lines")
                                   .add(&R::y_axis, "y_axis", "Of the lines")
                                   .add(&R::lines, "lines", "Over the length, both axes logarithmic")
                                   .add(&R::presets, "presets", "Models that are known by name");
  return kMembers;
}

api_detail::Answerer api_detail::cost_question() {
  return answerer<CostShownRequest, CostShownReply>("cost", "What a transformer costs, figure by figure.",
                                                    cost_shown_fields(), answer_cost,
                                                    {"{}", R"({"preset": "bert-base", "of": "flops"})"});
}

}  // namespace qkv
