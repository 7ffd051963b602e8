#include "qkv/api/roles.h"

#include "api/fields/refuse.h"
#include "api/heads/changes.h"
#include "api/studio/studio_questions.h"
#include "qkv/insight/texts.h"

namespace qkv {
namespace {

using api_detail::StudioState;

RolesReply answer_roles(StudioState& state, const RolesRequest& request, const StudioWatch& watch) {
  const auto trained = api_detail::of_path("model", [&] { return state.model(request.model); });
  const std::vector<std::string> lines = api_detail::parts_of(request.texts, '\n');
  const HeadTexts texts = lines.empty() ? texts_to_look_at(*trained, request.count) : head_texts(*trained, lines);
  HeadOptions options;
  options.importance_texts = request.importance;
  options.repeats = texts.repeats;
  options.patterns = texts.patterns;
  options.doing = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    if (watch && watch(what, {.done = done, .total = total}) == Proceed::stop) throw Cancelled("roles: stopped");
  };
  return roles_reply(analyze_heads(trained->model(), texts.texts, options), request.model, texts.described);
}

}  // namespace

api_detail::Answerer api_detail::roles_question() {
  return answerer<RolesRequest, RolesReply>("roles", "What each head does, over many texts.", roles_fields(),
                                            answer_roles, {R"({"model": "induction", "count": 8, "importance": 4})"});
}

}  // namespace qkv
