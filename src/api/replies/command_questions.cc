#include "qkv/api/command_questions.h"

#include <type_traits>
#include <utility>

#include "qkv/api/change.h"
#include "qkv/api/cost.h"
#include "qkv/api/explain.h"
#include "qkv/api/lens.h"
#include "qkv/api/mask.h"
#include "qkv/api/probe.h"
#include "qkv/api/roles.h"
#include "qkv/api/task.h"
#include "qkv/api/texts.h"

namespace qkv {
namespace {

AnyReply as_any(AnyReply reply) { return reply; }
template <class Reply>
AnyReply as_any(Reply reply) {
  return any_reply(std::move(reply));
}

template <class Request>
CommandQuestion question(const char* name, const Fields<Request>& fields, std::vector<std::string> examples) {
  return {.name = name,
          .fields = fields.infos(),
          .answer = [&fields](const FieldValues& values) { return as_any(answer(fields.from_values(values))); },
          .examples = std::move(examples)};
}

// The fields of pages are none of the command's.
const Fields<ExplainRequest>& fields_of_explain() {
  static const Fields<ExplainRequest> kFields = [] {
    constexpr std::string_view kOfPages[] = {"numbers", "match"};
    Fields<ExplainRequest> fields = explain_fields();
    fields.remove(kOfPages);
    return fields;
  }();
  return kFields;
}

}  // namespace

std::span<const CommandQuestion> command_questions() {
  static const std::vector<CommandQuestion> kAll = {
      question("probe", probe_fields(),
               {R"({"random": "1,2,1,16,16,8", "causal": true, "map": "4", "top_k": 2, "seed": 3})",
                R"({"model": "gpt", "text": "The cat sat down", "layer": 1, "stats": true, "row": 3})"}),
      question("cost", cost_fields(),
               {R"({"preset": "gpt2", "tokens": 2048})", R"({"layers": 2, "d_model": 64, "heads": 4, "gated": true})"}),
      question("mask", mask_fields(), {R"({"mask": "window(64) & causal", "tq": 256, "tk": 256})", R"({"tq": 64})"}),
      question("explain", fields_of_explain(),
               {R"({"text": "The cat sat down", "causal": true})", R"({"text": "The cat sat", "query": "cat"})",
                R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[2],[3]]"})"}),
      question("analyze", analyze_fields(),
               {R"({"model": "induction", "count": 4, "importance": 2})",
                R"({"model": "english", "syntax": "english", "count": 4})"}),
      question("change", intervention_fields(),
               {R"({"model": "induction", "text": "abcxyzab", "remove": ["1.0"]})",
                R"({"model": "induction", "examples": 4, "changes": ["pattern 1.0=uniform"], "freeze_norms": true})",
                R"({"model": "induction", "text": "abcxyzab", "sweep": "heads"})"}),
      question("lens", lens_fields(), {R"({"model": "induction", "text": "abcxyzab", "against": "x"})"}),
      question("generate", generate_fields(),
               {R"({"model": "gpt", "text": "The cat", "tokens": 6, "temperature": 0.5, "samples": 2, "seed": 7})"}),
      question("fill", fill_fields(), {R"({"model": "english", "text": "the cats <be> small", "count": 3})"}),
      question("embed", embed_fields(), {R"({"model": "english", "text": "the cats are small", "normalise": true})"}),
      question("task", task_fields(), {R"({"task": "copy", "examples": 2, "split": "train"})", "{}"}),
  };
  return kAll;
}

}  // namespace qkv
