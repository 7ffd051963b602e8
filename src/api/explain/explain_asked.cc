// Which parts of an explanation are asked for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "api/explain/explain_rules.h"
#include "api/fields/refuse.h"
#include "api/models/pass_bounds.h"

namespace qkv {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

}  // namespace

// Whoever asks for a query, answers or single steps gets these alone.
bool asks_for_removal(const ExplainRequest& request) { return request.steps.find("removal") != std::string::npos; }

ExplainedParts parts_of(const ExplainRequest& request) {
  const bool asks_for_parts = !request.query.empty() || !request.why.empty() || !request.steps.empty();
  const bool is_all = !request.all.empty();
  return {.steps = is_all || !request.steps.empty() || !asks_for_parts,
          .only_steps = request.steps,
          .whys = is_all || !request.why.empty() || !asks_for_parts,
          .removal = asks_for_removal(request)};
}

void keep_asked(Explanation& explanation, const ExplainRequest& request) {
  const ExplainedParts parts = parts_of(request);
  const bool is_drawn = request.model.empty() && request.worked.empty();
  if (is_drawn && !parts.steps) explanation.steps.clear();
  if (is_drawn && !parts.whys) explanation.whys.clear();
  if (!request.steps.empty()) keep_steps(explanation, request.steps);
  if (!request.why.empty()) keep_whys(explanation, fmt::format("{}", fmt::join(request.why, ",")));
}

OpenedModel asked_model(const ExplainRequest& request) {
  return request.model.empty() ? nullptr : open_model(request.model, {}, model_numbers_named(request.dtype));
}

AnyReply answer(const ExplainRequest& request, const Given& given) {
  require_explain(request, given);
  if (request.worked == "list") return any_reply(worked_examples());
  const bool in_numbers = request.numbers.value_or(true);
  const OpenedModel model = asked_model(request);
  const bool is_drawn = model == nullptr && request.worked.empty();
  const double most_numbers = in_numbers ? api_detail::answer_bounds().numbers : kAny;
  Explanation explanation = is_drawn ? api_detail::drawn_explanation(request, parts_of(request), most_numbers)
                                     : explanation_of(request, model, parts_of(request));
  keep_asked(explanation, request);
  return any_reply(explained(explanation, in_numbers ? Explained::in_numbers : Explained::as_shown));
}

}  // namespace qkv
