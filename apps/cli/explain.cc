// qkv explain: attention on a text, every step with its formula, its shape, its numbers and a picture.
#include "qkv/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "commands.h"
#include "explain_files.h"
#include "file/explain_page.h"
#include "file/page_file.h"
#include "qkv/api/explain.h"
#include "qkv/explain/model.h"

namespace qkv::cli {
namespace {

struct ExplainFlags : ExplainRequest {
  bool prints = false;
};

std::string worked_list() {
  std::string text;
  for (const WorkedExample& example : worked_examples()) {
    text += fmt::format("{:<22} {}\n", example.name, example.title);
  }
  return text;
}

// What the terminal leaves out of a model's explanation, and how to see it.
std::string rest_of(const Explanation& whole, const Explanation& part, std::string_view all) {
  constexpr std::size_t kLine = 76;
  std::string ids;
  std::string line;
  for (const Section& step : whole.steps) {
    if (std::ranges::find(part.steps, step.id, &Section::id) != part.steps.end()) continue;
    if (line.size() + step.id.size() + 1 > kLine) ids += std::exchange(line, "") + "\n";
    line += (line.empty() ? "  " : " ") + step.id;
  }
  return fmt::format(
      "\nThis is {} of {} steps. {}\n{}\n--html FILE, --png DIR and --json hold everything.\n", part.steps.size(),
      whole.steps.size(),
      !all.empty() ? "--all=full adds every step, --step NAMES some of them:"
                   : "--all adds the heads that show a pattern, --all=full\nevery step, --step NAMES some of them:",
      ids + line);
}

std::string text_of(const Asked<ExplainFlags>& asked, Explanation explanation) {
  std::string rest;
  const bool is_trained = !asked.model.empty();
  const bool asks_why = !asked.why.empty();
  const bool is_whole = asked.all == "full" || !asked.steps.empty();
  if (is_trained && asks_why && !is_whole && asked.all.empty()) {
    explanation.steps.clear();
  } else if (is_trained && !is_whole) {
    Explanation part = asked.all.empty() ? in_short(explanation) : with_known_heads(explanation);
    if (asked.query.empty()) rest = rest_of(explanation, part, asked.all);
    explanation = std::move(part);
  }
  return to_text(explanation, {.terminal = asked.how.terminal(), .whys_in_full = asks_why}) + rest;
}

void run_explain(Asked<ExplainFlags>& asked, const Given& given) {
  const Manner& how = asked.how;
  require_explain(asked, given);
  if (how.json && !asked.model.empty() && !asked.all.empty()) {
    misuse("all", "it without `json` (a model's JSON has every step)", "both");
  }
  if (asked.worked == "list") return how.tell(worked_examples(), worked_list);
  const bool has_page = !how.page.empty();  // which shows all
  if (has_page) studio::require_pages();
  const OpenedModel model = asked_model(asked);
  Explanation explanation =
      explanation_of(asked, model, has_page ? ExplainedParts{.removal = asks_for_removal(asked)} : parts_of(asked));
  const std::string page = has_page ? studio::explain_page(asked, explanation, model) : "";
  keep_asked(explanation, asked);
  const Explained form = asked.numbers.value_or(true) ? Explained::in_numbers : Explained::as_shown;
  give(
      how, explanation, page, [&] { return reply_as_json(explained(explanation, form)); },
      [&] { return how.wants_files() && !asked.prints ? "" : text_of(asked, explanation); });
}

Fields<Asked<ExplainFlags>> fields_of_explain() {
  const std::vector<std::string> files{"html", "svg", "png"};
  Fields<ExplainFlags> own;
  own.add(explain_fields());
  own.info("numbers").needs = {"json"};
  FieldInfo& all = own.info("all");  // what a text leaves out of a model
  all.meaning =
      "Of a model, in text alone, since its JSON has every step: the heads that show a pattern, too; `full`: every "
      "head and step. Where `query` or `why` is asked: every step as well";
  std::erase(all.excludes, "model");
  all.needs_one = {"model", "query", "why"};
  own.add(&ExplainFlags::prints, {.name = "print",
                                  .meaning = "Print the explanation, too",
                                  .needs_one = files,
                                  .excludes = {"json", "html=-"},
                                  .reasons = {{"html=-", kOneThing}}});
  auto fields = asked(own, {"json", "quiet", "html", "folders", "color", "width"});
  fields.remove(std::array<std::string_view, 1>{"pdf"});
  fields.info("json").meaning = "Print it as JSON, every cell with all its digits";
  FieldInfo& quiet = fields.info("quiet");
  quiet.meaning = "Print nothing, not even what was written";
  quiet.needs_one = files;
  quiet.excludes = {"json", "print", "html=-"};
  quiet.reasons.clear();
  fields.exclude({"color", "width", "html", "svg", "png"}, {"worked=list"}, "it names the examples and no more");
  for (const char* const printed : {"color", "width"}) fields.info(printed).beside = {{files, {"print"}}};
  return fields;
}

}  // namespace

void add_explain(Commands& commands) {
  commands.add({.name = "explain",
                .group = "Attention",
                .footer = "Examples:\n"
                          "  qkv explain \"The cat sat down\" --causal\n"
                          "  qkv explain \"The cat sat down\" --query cat\n"
                          "  qkv explain --q \"[[1,0],[0,1]]\" --k \"[[1,0],[1,1]]\" --v \"[[2],[3]]\"\n"
                          "  qkv explain \"The cat sat down\" --block pre-norm --html explain.html\n"
                          "  qkv explain --model induction \"a b c x y a b\"\n"
                          "  qkv explain --model translation \"some umbrellas are heavy\" --all\n"
                          "  qkv explain \"Le chat\" --context \"The cat sat down\" --why",
                .places = {"text"}},
               fields_of_explain(), run_explain);
}

}  // namespace qkv::cli
