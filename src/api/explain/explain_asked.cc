// What `qkv explain` is asked: the question explain, and which parts of the answer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>

#include "api/fields/refuse.h"
#include "qkv/api/explain.h"
#include "qkv/number_text.h"

namespace qkv {
namespace {

using api_detail::refuse;

// What the question has for pages alone, or in another form.
constexpr std::array<std::string_view, 4> kOfPages = {"numbers", "match", "head", "why"};

Fields<ExplainAsked> asked_parts() {
  using A = ExplainAsked;
  Fields<A> fields;
  fields.add(&A::head_name, {.name = "head",
                             .form = "1.5",
                             .meaning = "Whose steps to show: layer 1, head 5",
                             .group = "A trained model",
                             .otherwise = "what the text calls for"});
  fields.add(&A::all,
             {.name = "all",
              .form = "full",
              .meaning = "The heads that show a pattern, too; --all=full every head and step. Beside --query or --why "
                         "every step",
              .words = {"full"},
              .alone = "known"});
  fields.add(
      &A::steps,
      {.name = "step", .form = "STEPS", .meaning = "Only these: 7, 5-8, softmax, 3,softmax", .excludes = {"all"}});
  FieldInfo whys{.name = "why",
                 .form = "KIND",
                 .meaning = "Answer why, and nothing else; or only some: variance,order",
                 .words = {"all"},
                 .alone = "all"};
  whys.words.insert(whys.words.end(), kWhyIds.begin(), kWhyIds.end());
  fields.add(&A::whys, std::move(whys));
  fields.give_examples({{"head", "1.0"}, {"step", "softmax"}});
  return fields;
}

// "1.5" as layer and head.
void read_head(ExplainAsked& asked) {
  if (asked.head_name.empty()) return;
  const auto numbers = numbers_from<std::int64_t>(asked.head_name, '.');
  const std::string got = "\"" + asked.head_name + "\"";
  if (!numbers || numbers->size() != 2) refuse("head", "LAYER.HEAD, such as 1.5", got);
  if (asked.layer && *asked.layer != numbers->front()) {
    refuse("head", fmt::format("a head of `layer` {}", *asked.layer), got);
  }
  asked.layer = numbers->front();
  asked.head = numbers->back();
}

}  // namespace

const Fields<ExplainAsked>& explain_asked_fields() {
  static const Fields<ExplainAsked> kFields = [] {
    Fields<ExplainAsked> fields;
    fields.add(explain_fields());
    fields.remove(kOfPages);
    fields.info("captions").option = "caption";
    fields.add(asked_parts());
    return fields;
  }();
  return kFields;
}

ExplainAsked read_explain(ExplainAsked asked, const Given& given) {
  ExplainGiven of_question{.fields = {}, .bias = asked.bias, .block = asked.block, .positions = asked.positions};
  for (const std::string& name : given.names()) of_question.fields.insert(name);
  require_explain(of_question);
  const bool is_drawn = asked.model.empty() && asked.worked.empty();
  if (is_drawn && !asked.all.empty() && asked.query.empty() && asked.whys.empty()) {
    refuse("all", "a `model`, `query` or `why`, of which a part is shown without it", "none");
  }
  const bool has_own = !asked.npz.empty() || given.has("q") || given.has("k") || given.has("v");
  if (is_drawn && !given.has("text") && !has_own) {
    refuse("text", "some words, as in qkv explain \"The cat sat down\" (or `npz` FILE, or `q`, `k` and `v`)", "none");
  }
  read_head(asked);
  asked.why = !asked.whys.empty();
  return asked;
}

// Whoever asks for a query, answers or single steps gets these alone.
bool asks_for_removal(const ExplainAsked& asked) { return asked.steps.find("removal") != std::string::npos; }

ExplainedParts parts_of(const ExplainAsked& asked) {
  const bool asks_for_parts = !asked.query.empty() || !asked.whys.empty() || !asked.steps.empty();
  const bool is_all = !asked.all.empty();
  return {.steps = is_all || !asked.steps.empty() || !asks_for_parts,
          .only_steps = asked.steps,
          .whys = is_all || !asked.whys.empty() || !asks_for_parts,
          .removal = asks_for_removal(asked)};
}

void keep_asked(Explanation& explanation, const ExplainAsked& asked) {
  const ExplainedParts parts = parts_of(asked);
  const bool is_drawn = asked.model.empty() && asked.worked.empty();
  if (is_drawn && !parts.steps) explanation.steps.clear();
  if (is_drawn && !parts.whys) explanation.whys.clear();
  if (!asked.steps.empty()) keep_steps(explanation, asked.steps);
  if (asked.why) keep_whys(explanation, fmt::format("{}", fmt::join(asked.whys, ",")));
}

AnyReply answer(const ExplainAsked& request, const Given& given) {
  const ExplainAsked asked = read_explain(request, given);
  if (asked.worked == "list") return any_reply(worked_examples());
  const OpenedModel model = asked.model.empty() ? nullptr : open_model(asked.model);
  Explanation explanation = explanation_of(asked, model, parts_of(asked));
  keep_asked(explanation, asked);
  return any_reply(explained(explanation, Explained::in_numbers));
}

}  // namespace qkv
