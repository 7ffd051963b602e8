#include "qkv/api/roles.h"

#include <fmt/format.h>

#include "api/fields/refuse.h"
#include "api/heads/changes.h"
#include "api/studio/studio_questions.h"
#include "qkv/insight/change.h"
#include "qkv/insight/texts.h"

namespace qkv {
namespace {

using api_detail::refuse;
using api_detail::StudioState;

RolesReply answer_roles(StudioState& state, const RolesRequest& request, const StudioWatch& watch) {
  const auto trained = state.model(request.model);
  const std::vector<std::string> lines = api_detail::parts_of(request.texts, '\n');
  const HeadTexts texts = lines.empty() ? texts_to_look_at(*trained, request.count) : head_texts(*trained, lines);
  HeadOptions options;
  options.importance_texts = request.importance;
  options.repeats = texts.repeats;
  options.doing = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    if (watch && watch(what, {.done = done, .total = total}) == Proceed::stop) throw Cancelled("roles: stopped");
  };
  HeadAnalysis analysis = analyze_heads(trained->model(), texts.texts, options);
  if (lines.empty()) analysis.patterns = pattern_heads(*trained, request.count);
  return roles_reply(analysis, request.model, texts.described);
}

ChangeQuestion question_of(const ChangeRequest& request) {
  const auto given = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  ChangeQuestion question;
  question.of.text = given(request.text);
  question.of.example = request.example;
  question.of.query = given(request.query);
  question.of.token = given(request.token);
  question.of.against = given(request.against);
  question.from_text = given(request.from_text);
  question.interventions = api_detail::changes_in(request.changes);
  return question;
}

ChangeScore shown_score(const TokenScore& score) { return {score.logit, score.probability, score.rank}; }

ChangeToken shown_token_change(const TokenChange& change) {
  return {change.shown, shown_score(change.before), shown_score(change.after)};
}

std::string sentence_of(const TextChange& change) {
  if (change.answer) {
    const TokenChange& answer = *change.answer;
    return fmt::format("“{}” at “{}”: {:.4f} before, {:.4f} after.", answer.shown,
                       change.tokens[static_cast<std::size_t>(change.place)], answer.before.probability,
                       answer.after.probability);
  }
  if (change.vector_cosine) {
    return fmt::format("The text's vector before and after: cosine {:.4f}.", *change.vector_cosine);
  }
  if (change.pair) {
    return fmt::format("Picture and text: cosine {:.4f} before, {:.4f} after.", change.pair->before,
                       change.pair->after);
  }
  return {};
}

ChangeReply answer_change(StudioState& state, const ChangeRequest& request, const StudioWatch& /*a few passes*/) {
  if (request.text.empty() == !request.example) {
    refuse("text", "one of `text` and `example`", request.example ? "both" : "none");
  }
  if (!request.second.empty()) refuse("second", "none: changes are shown of one text", "\"" + request.second + "\"");
  const auto trained = state.model(request.model);
  const ChangeQuestion question = question_of(request);
  const TextChange change = change_text(*trained, question);
  ChangeReply reply;
  reply.title = request.model;
  for (const Intervention& one : question.interventions) reply.changes.push_back(to_string(one));
  reply.tokens = change.tokens;
  reply.place = change.place;
  if (change.answer) reply.answer = shown_token_change(*change.answer);
  if (change.against) reply.against = shown_token_change(*change.against);
  for (const TokenChange& one : change.moved) reply.moved.push_back(shown_token_change(one));
  reply.divergence = change.divergence;
  reply.state_cosines = change.state_cosines;
  reply.vector_cosine = change.vector_cosine;
  reply.sentence = sentence_of(change);
  return reply;
}

}  // namespace

api_detail::Answerer api_detail::roles_question() {
  return answerer<RolesRequest, RolesReply>("roles", "What each head does, over many texts.", roles_fields(),
                                            answer_roles, {R"({"model": "induction", "count": 8, "importance": 4})"});
}

api_detail::Answerer api_detail::change_question() {
  return answerer<ChangeRequest, ChangeReply>(
      "change", "What a model says when something inside it is changed.", change_fields(), answer_change,
      {R"({"model": "induction", "text": "abcxyzab", "changes": "remove 1.0"})"});
}

}  // namespace qkv
