#include "qkv/api/command_questions.h"

#include <utility>

#include "api/replies/answered.h"
#include "qkv/api/attend.h"
#include "qkv/api/change.h"
#include "qkv/api/check_models.h"
#include "qkv/api/convert.h"
#include "qkv/api/cost.h"
#include "qkv/api/explain.h"
#include "qkv/api/fetch.h"
#include "qkv/api/info.h"
#include "qkv/api/lens.h"
#include "qkv/api/mask.h"
#include "qkv/api/match.h"
#include "qkv/api/probe.h"
#include "qkv/api/refusal.h"
#include "qkv/api/roles.h"
#include "qkv/api/study.h"
#include "qkv/api/task.h"
#include "qkv/api/texts.h"
#include "qkv/api/tokens.h"
#include "qkv/api/train.h"

namespace qkv {
namespace {

template <class Request>
CommandQuestion question(const char* name, const Fields<Request>& fields, std::vector<std::string> examples) {
  const auto of_values = [&fields](const FieldValues& values) { return api_detail::answered(fields, values); };
  return {.name = name, .fields = fields.infos(), .answer = of_values, .examples = std::move(examples)};
}

// Gradients go into a file.
const Fields<AttendRequest>& fields_of_attend() {
  static const Fields<AttendRequest> kFields = [] {
    constexpr std::string_view kOfFiles[] = {"d_out", "d_lse"};
    Fields<AttendRequest> fields = attend_fields();
    fields.remove(kOfFiles);
    return fields;
  }();
  return kFields;
}

}  // namespace

std::span<const CommandQuestion> command_questions() {
  static const std::vector<CommandQuestion> kAll = {
      question("attend", fields_of_attend(),
               {R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[1],[2]]", "causal": true})"}),
      question("check", check_asked_fields(), {}),
      question("probe", probe_fields(),
               {R"({"random": "1,2,1,16,16,8", "causal": true, "map": "4", "top_k": 2, "seed": 3})",
                R"({"model": "gpt", "text": "The cat sat down", "layer": 1, "stats": true, "row": 3})"}),
      question("cost", cost_fields(),
               {R"({"preset": "gpt2", "tokens": 2048})", R"({"layers": 2, "d_model": 64, "heads": 4, "gated": true})"}),
      question("mask", mask_fields(), {R"({"mask": "window(64) & causal", "tq": 256, "tk": 256})", R"({"tq": 64})"}),
      question("explain", explain_fields(),
               {R"({"text": "The cat sat down", "causal": true})", R"({"text": "The cat sat", "query": "cat"})",
                R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[2],[3]]"})"}),
      question("analyze", analyze_fields(),
               {R"({"model": "induction", "count": 4, "importance": 2})",
                R"({"model": "english", "syntax": "english", "count": 4})"}),
      question("change", change_fields(),
               {R"({"model": "induction", "text": "abcxyzab", "remove": ["1.0"]})",
                R"({"model": "induction", "examples": 4, "changes": ["pattern 1.0=uniform"], "freeze_norms": true})",
                R"({"model": "induction", "text": "abcxyzab", "sweep": "heads"})"}),
      question("lens", lens_fields(), {R"({"model": "induction", "text": "abcxyzab", "against": "x"})"}),
      question("generate", generate_fields(),
               {R"({"model": "gpt", "text": "The cat", "tokens": 6, "temperature": 0.5, "samples": 2, "seed": 7})"}),
      question("fill", fill_fields(), {R"({"model": "english", "text": "the cats <be> small", "count": 3})"}),
      question("embed", embed_fields(), {R"({"model": "english", "text": "the cats are small", "normalise": true})"}),
      question("match", match_fields(), {}),
      question("train", train_run_fields(), {}),
      question("convert", convert_fields(), {}),
      question("tokens", tokens_fields(),
               {R"({"tokenizer": "english", "text": "the cats are small"})",
                R"({"tokenizer": "english", "ids": "12 7"})", R"({"tokenizer": "english", "search": "king"})"}),
      question("fetch", fetch_fields(), {}),
      question("bench variants", variants_bench_fields(),
               {R"({"tokens": "32:64", "heads": 1, "head_dim": 8, "repeats": 1, "mask": ["causal"], "threads": 1})"}),
      question("bench positions", positions_bench_fields(),
               {R"({"task": "copy", "kinds": ["rotary", "none"], "steps": 3, "batch": 4, "examples": 8})"}),
      question("bench bottleneck", bottleneck_bench_fields(), {R"({"to": 3, "texts": 8})"}),
      question("info", info_fields(), {"{}"}),
      question("task", task_fields(), {R"({"task": "copy", "examples": 2, "split": "train"})", "{}"}),
  };
  return kAll;
}

}  // namespace qkv
