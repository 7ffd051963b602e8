// qkv explain: attention on a text, every step with its formula, its shape, its numbers and a picture.
#include "qkv/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "commands.h"
#include "common_options.h"
#include "explain_files.h"
#include "file/explain_page.h"
#include "lines.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/explain.h"
#include "qkv/explain/model.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

struct ExplainFlags : ExplainRequest {
  bool json = false;
  bool prints = false;
  bool quiet = false;
  TerminalLook look;
  ExplainFiles files;
};

// Standard output holds one thing.
void require_one_output(const ExplainFlags& flags) {
  if (!flags.files.prints_page()) return;
  if (flags.json || flags.prints) {
    misuse("--html", "a file beside --json or --print, for standard output holds one of them", "-");
  }
  if (flags.quiet) misuse("--quiet", "nothing else to be printed", "--html -");
}

void require_effect(const ExplainFlags& flags) {
  if (flags.json && !flags.model.empty() && !flags.all.empty()) {
    misuse("all", "none beside `json` and `model`: a model's JSON has every step", "one");
  }
}

std::string worked_list(bool json) {
  if (json) return reply_as_json(worked_examples());
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

void print_explanation(const ExplainFlags& flags, Explanation explanation) {
  std::string rest;
  const bool is_trained = !flags.model.empty();
  const bool asks_why = !flags.why.empty();
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

void run_explain(ExplainFlags& flags, const Given& given) {
  require_one_output(flags);
  require_explain(flags, given);
  require_effect(flags);
  if (flags.worked == "list") return print(worked_list(flags.json));
  flags.files.require_writable();
  if (!flags.text.empty()) flags.text = text_or_input(flags.text);
  const OpenedModel model = flags.model.empty() ? nullptr : open_model(flags.model);
  const bool has_page = !flags.files.html.empty();  // which shows all
  Explanation explanation =
      explanation_of(flags, model, has_page ? ExplainedParts{.removal = asks_for_removal(flags)} : parts_of(flags));
  const std::string page = has_page ? studio::explain_page(flags, explanation, model) : "";
  keep_asked(explanation, flags);
  flags.files.write(explanation, page);
  if (flags.json) {
    const Explained how = flags.numbers.value_or(true) ? Explained::in_numbers : Explained::as_shown;
    print(reply_as_json(explained(explanation, how)));
  } else if (flags.files.prints_page()) {
    print(page);
  } else {
    if (!flags.files.wants_any() || flags.prints) print_explanation(flags, explanation);
    if (!flags.quiet) print((flags.prints ? "\n" : "") + flags.files.report());
  }
}

Fields<ExplainFlags> fields_of_explain() {
  Fields<ExplainFlags> fields;
  fields.add(explain_fields());
  fields.info("numbers").needs = {"json"};
  fields.add(&ExplainFlags::look, terminal_fields());
  fields.add(&ExplainFlags::json, json_field("Print it as JSON, every cell with all its digits"));
  fields.add(&ExplainFlags::files, explain_file_fields("Write one self-contained page; `-` prints it"));
  const std::vector<std::string> files{"html", "svg", "png"};
  fields.add(&ExplainFlags::prints, {.name = "print",
                                     .meaning = "Print the explanation beside these files, too",
                                     .needs_one = files,
                                     .excludes = {"json"}});
  fields.add(&ExplainFlags::quiet, {.name = "quiet",
                                    .meaning = "Print nothing, not even what was written",
                                    .needs_one = files,
                                    .excludes = {"json", "print"}});
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
