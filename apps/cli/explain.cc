// qkv explain: attention on a text, every step with its formula, its shape, its numbers and a picture.
#include "qkv/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "commands.h"
#include "explain_arguments.h"
#include "explain_page.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/pictures.h"
#include "qkv/course/worked.h"
#include "qkv/explain/files.h"
#include "qkv/explain/model.h"
#include "qkv/number_text.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

// Standard output holds one thing, and --quiet needs something else to be left.
void require_one_output(const ExplainFlags& flags) {
  if (flags.files.prints_page() && (flags.json || flags.prints)) {
    misuse("--html", "a file beside --json or --print, for standard output holds one of them", "-");
  }
  if (flags.prints && !flags.files.wants_any()) misuse("--print", "--html, --svg or --png beside it", "none");
  if (flags.quiet && !flags.files.wants_any()) misuse("--quiet", "--html, --svg or --png beside it", "none");
  if (flags.quiet && (flags.json || flags.prints || flags.files.prints_page())) {
    misuse("--quiet", "nothing else to be printed", flags.json ? "--json" : flags.prints ? "--print" : "--html -");
  }
}

// An option that would change nothing is refused, or its reader would believe that it did.
void require_effect(const ExplainFlags& flags, const Given& given) {
  ExplainGiven of_question{.fields = {}, .bias = flags.bias, .block = flags.block, .positions = flags.positions};
  for (const std::string& name : given.names()) of_question.fields.insert(name);
  require_explain(of_question);
  const bool is_drawn = flags.model.empty() && flags.worked.empty();
  if (is_drawn && !flags.all.empty() && flags.query.empty() && flags.whys.empty()) {
    misuse("--all", "a --model, --query or --why, of which a part is shown without it", "none");
  }
  const bool has_own = !flags.npz.empty() || given.has("q") || given.has("k") || given.has("v");
  if (is_drawn && !given.has("text") && !has_own) {
    misuse("TEXT", "some words, as in qkv explain \"The cat sat down\" (or --npz FILE, or --q, --k and --v)", "none");
  }
}

// "1.5" as layer and head.
void read_head(ExplainFlags& flags) {
  if (flags.head_name.empty()) return;
  const auto numbers = numbers_from<std::int64_t>(flags.head_name, '.');
  const std::string got = "\"" + flags.head_name + "\"";
  if (!numbers || numbers->size() != 2) misuse("--head", "LAYER.HEAD, such as 1.5", got);
  if (flags.layer && *flags.layer != numbers->front()) {
    misuse("--head", fmt::format("a head of --layer {}", *flags.layer), got);
  }
  flags.layer = numbers->front();
  flags.head = numbers->back();
}

std::string worked_list(bool json) {
  if (json) return reply_as_json(worked_examples());
  std::string text;
  for (const WorkedExample& example : worked_examples()) {
    text += fmt::format("{:<22} {}\n", example.name, example.title);
  }
  return text;
}

bool asks_for_removal(const ExplainFlags& flags) { return flags.steps.find("removal") != std::string::npos; }

// Whoever asks for a query, answers or single steps gets these alone.
ExplainedParts parts_of(const ExplainFlags& flags) {
  const bool asks_for_parts = !flags.query.empty() || !flags.whys.empty() || !flags.steps.empty();
  const bool is_all = !flags.all.empty();
  return {.steps = is_all || !flags.steps.empty() || !asks_for_parts,
          .only_steps = flags.steps,
          .whys = is_all || !flags.whys.empty() || !asks_for_parts,
          .removal = asks_for_removal(flags)};
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

void print_text(const ExplainFlags& flags, Explanation explanation) {
  std::string rest;
  const bool is_trained = !flags.model.empty();
  const bool asks_why = !flags.whys.empty();
  const bool is_whole = flags.all == "full" || !flags.steps.empty();
  if (is_trained && asks_why && !is_whole && flags.all.empty()) {
    explanation.steps.clear();
  } else if (is_trained && !is_whole) {
    Explanation part = flags.all.empty() ? in_short(explanation) : with_known_heads(explanation);
    if (flags.query.empty()) rest = rest_of(explanation, part, flags.all);
    explanation = std::move(part);
  }
  ExplainTextOptions text;
  text.terminal = terminal_options(flags.look.color, flags.look.width);
  text.whys_in_full = asks_why;
  print(to_text(explanation, text) + rest);
}

// Leaves what was asked for, of an explanation that may hold more.
void keep_asked(Explanation& explanation, const ExplainFlags& flags) {
  const ExplainedParts parts = parts_of(flags);
  const bool is_drawn = flags.model.empty() && flags.worked.empty();
  if (is_drawn && !parts.steps) explanation.steps.clear();
  if (is_drawn && !parts.whys) explanation.whys.clear();
  if (!flags.steps.empty()) keep_steps(explanation, flags.steps);
  if (flags.why) keep_whys(explanation, fmt::format("{}", fmt::join(flags.whys, ",")));
}

void run_explain(ExplainFlags& flags, const Given& given) {
  require_one_output(flags);
  require_effect(flags, given);
  read_head(flags);
  if (flags.worked == "list") return print(worked_list(flags.json));
  flags.files.require_writable();
  if (!flags.text.empty()) flags.text = text_or_input(flags.text);
  flags.why = !flags.whys.empty();
  const OpenedModel model = flags.model.empty() ? nullptr : open_model(flags.model);
  const bool has_page = !flags.files.html.empty();  // which shows all
  Explanation explanation =
      explanation_of(flags, model, has_page ? ExplainedParts{.removal = asks_for_removal(flags)} : parts_of(flags));
  const std::string page = has_page ? explain_page(flags, explanation, model) : "";
  keep_asked(explanation, flags);
  flags.files.write(explanation, page);
  if (flags.json) {
    print(reply_as_json(explained(explanation, Explained::in_numbers)));
  } else if (flags.files.prints_page()) {
    print(page);
  } else {
    if (!flags.files.wants_any() || flags.prints) print_text(flags, explanation);
    if (!flags.quiet) print((flags.prints ? "\n" : "") + flags.files.report());
  }
}

}  // namespace

void add_explain(Commands& commands) {
  commands.add({.name = "explain",
                .summary = "Attention on a text: every step with its numbers",
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
