// Questions that pages ask as commands do, with the same fields and the same answer.
#include <fmt/format.h>

#include "api/explain/explain_rules.h"
#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "qkv/api/change.h"
#include "qkv/api/cost.h"
#include "qkv/api/explain.h"
#include "qkv/api/mask.h"

namespace qkv::api_detail {
namespace {

// A plan keeps its tiles.
void require_short_mask(const MaskRequest& request) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 17;
  const auto within = [&](std::string_view field, std::int64_t extent) {
    if (extent > kLongest) refuse(field, fmt::format("a whole number from 1 to {}", kLongest), std::to_string(extent));
  };
  within("tq", request.tq);
  within("tk", request.tk);
}

}  // namespace

Answerer explain_question() {
  Answerer one = answerer<ExplainReply>(
      "explain", "Everything from words to the output, step by step, and why it is done so.", explain_fields(),
      {R"({"text": "The cat sat down", "causal": true, "query": "cat", "all": "full", "numbers": false})",
       R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[2],[3]]"})",
       R"({"model": "induction", "text": "abcxyzab", "numbers": false})"});
  one.answer = [of_owner = one.answer](StudioState& state, const FieldValues& values, const StudioWatch& watch) {
    if (state.options().asker == Asker::owner) return of_owner(state, values, watch);
    const Fields<ExplainRequest>& fields = explain_fields();
    return answered_for(fields.infos(), values,
                        [&] { return answer_reader(fields.from_values(values), Given(fields.infos(), values)); });
  };
  return one;
}

Answerer change_question() {
  return answerer<ChangeFigures>("change", "What a model says when something inside it is changed.", change_fields(),
                                 {R"({"model": "induction", "text": "abcxyzab", "changes": ["remove 1.0"]})",
                                  R"({"model": "induction", "text": "abcxyzab", "untouched": true})"});
}

Answerer cost_question() {
  return answerer<CostReply>("cost", "What a transformer costs, figure by figure.", cost_fields(),
                             {R"({"preset": "gpt3"})", R"({"preset": "bert-base", "of": "flops"})"});
}

Answerer mask_question() {
  return answerer<MaskFigures>("mask", "Who sees whom, and which tiles are computed.", mask_fields(),
                               {R"j({"mask": "causal & window(512)", "map": true, "cells": 128})j",
                                R"j({"mask": "causal", "tq": 8, "tk": 6, "map": true})j"},
                               require_short_mask);
}

}  // namespace qkv::api_detail
