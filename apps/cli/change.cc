// qkv change: what a model says when something inside it is changed.
#include "qkv/insight/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "line_texts.h"
#include "misuse.h"
#include "opened_model.h"
#include "output.h"
#include "outside.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/change.h"
#include "qkv/api/models.h"
#include "qkv/picture/terminal.h"
#include "qkv/threads.h"
#include "terminal.h"

namespace qkv::cli {
namespace {

constexpr std::int64_t kMostExamples = 100000;
constexpr std::int64_t kLastExample = std::int64_t{1} << 40;

struct ChangeArguments {
  std::string model;
  std::optional<std::string> text;
  std::optional<std::int64_t> example;
  std::string file;
  std::optional<std::int64_t> examples;
  std::vector<std::string> removed, patterns, cuts, patches, numbers;
  bool freezes = false;
  std::optional<std::string> from_text, query, token, against;
  std::optional<std::int64_t> from_example;
  std::string sweep;
  PicturePaths pictures;
  TerminalLook look;
  std::optional<int> threads;
  bool json = false;
};

// Patches and removals count in their order; the order of the options is that of the kinds.
std::vector<Intervention> interventions_of(const ChangeArguments& arguments) {
  std::vector<Intervention> all;
  const auto add = [&](const char* kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      all.push_back(
          of_option(std::string("--") + kind, [&] { return parse_intervention(std::string(kind) + " " + text); }));
    }
  };
  add("patch", arguments.patches);
  add("set", arguments.numbers);
  add("remove", arguments.removed);
  add("cut", arguments.cuts);
  add("pattern", arguments.patterns);
  if (arguments.freezes) all.emplace_back(FrozenNorms{});
  return all;
}

ChangeQuestion question_of(const ChangeArguments& arguments) {
  ChangeQuestion question;
  question.of = {.text = arguments.text,
                 .example = arguments.example,
                 .query = arguments.query,
                 .token = arguments.token,
                 .against = arguments.against};
  question.from_text = arguments.from_text;
  question.from_example = arguments.from_example;
  question.interventions = interventions_of(arguments);
  return question;
}

// What has no meaning together; fields say it of two of them alone.
void require_together(const ChangeArguments& arguments) {
  const bool is_many = !arguments.file.empty() || arguments.examples;
  const int sources = (arguments.text ? 1 : 0) + (arguments.example ? 1 : 0) + (arguments.file.empty() ? 0 : 1) +
                      (arguments.examples ? 1 : 0);
  if (sources != 1) {
    misuse("TEXT", "one of TEXT, --example, --file and --examples", sources == 0 ? "none" : "several");
  }
  if (is_many && !arguments.sweep.empty()) {
    misuse("--sweep", "one text; `qkv analyze` measures each head's removal over many", "many");
  }
  const std::pair<const char*, bool> of_one[] = {{"--query", arguments.query.has_value()},
                                                 {"--token", arguments.token.has_value()},
                                                 {"--against", arguments.against.has_value()}};
  for (const auto& [name, is_given] : of_one) {
    if (is_many && is_given) misuse(name, "one text", "many");
  }
  if (!arguments.pictures.empty() && arguments.sweep.empty()) {
    misuse("--svg, --png, --pdf", "a --sweep to draw", "none");
  }
}

bool have_a_head_in_common(const HeadsAt& a, const HeadsAt& b) {
  const auto meet = [](const auto& x, const auto& y) { return !x || !y || x == y; };
  return a.site == b.site && meet(a.layer, b.layer) && meet(a.head, b.head);
}

// Without a change all that is shown would be zeros, and a removed head's pattern counts for nothing.
void require_changes(const ChangeArguments& arguments, std::span<const Intervention> all) {
  if (all.empty() && arguments.sweep.empty()) {
    misuse("--remove", "it, --pattern, --cut, --patch, --set, --freeze-norms or --sweep", "none of them");
  }
  for (const Intervention& one : all) {
    const auto* pattern = std::get_if<ReplacedPattern>(&one);
    for (const Intervention& other : all) {
      const auto* removed = std::get_if<RemovedHead>(&other);
      if (pattern == nullptr || removed == nullptr || !have_a_head_in_common(pattern->at, removed->at)) continue;
      misuse("--pattern", "a head that is not removed as well", to_string(one) + " and " + to_string(other));
    }
  }
}

std::string sweep_title(const ChangeArguments& arguments) {
  return arguments.sweep == "heads" ? fmt::format("{}: each head removed", arguments.model)
                                    : fmt::format("{}: each state from the other text", arguments.model);
}

void run_sweep(const ChangeArguments& arguments, const TextModel& trained, const ChangeQuestion& question) {
  check_files({{"MODEL", arguments.model}}, places_of(arguments.pictures));
  const Sweep sweep = [&] {
    Progress line;
    const auto doing = [&](const std::string& what) { line.show(what); };
    return arguments.sweep == "heads" ? sweep_heads(trained, question, doing) : sweep_places(trained, question, doing);
  }();
  const Panel panel = sweep_panel(sweep, sweep_title(arguments));
  write_pictures(arguments.pictures, panel);
  if (arguments.json) return print(reply_as_json(sweep_figures(sweep, question, arguments.model)));
  std::string text = fmt::format("{}: {:.4f} before", sweep.measure, sweep.before);
  if (sweep.other) text += fmt::format(", {:.4f} of the other text", *sweep.other);
  print(text + "; its change:\n\n" + to_terminal(panel, terminal_options(arguments.look.color, arguments.look.width)));
  print_text("\n" + sweep_table(sweep));
  print(pictures_report(arguments.pictures));
}

HeadTexts texts_of(const ChangeArguments& arguments, const TextModel& trained) {
  if (!arguments.file.empty()) {
    return texts_of_lines(trained, "--file", arguments.file);
  }
  return of_option("--examples", [&] { return texts_to_look_at(trained, *arguments.examples); });
}

void show_change(const ChangeArguments& arguments) {
  if (arguments.threads) set_threads(*arguments.threads);
  require_together(arguments);
  ChangeQuestion question = question_of(arguments);
  require_changes(arguments, question.interventions);
  const std::string path = trained_model_path(arguments.model);
  const TrainedModel trained = opened_model("qkv change", arguments.model);
  if (trained.traits().fills) question.vectors = vectors_without_prompt("qkv change", path);
  if (arguments.text) warn_outside("qkv change", trained, *arguments.text);
  if (!arguments.sweep.empty()) return run_sweep(arguments, trained, question);
  if (arguments.text || arguments.example) {
    const TextChange change = change_text(trained, question);
    if (arguments.json) return print(reply_as_json(change_figures(change, question, arguments.model)));
    return print_text(change_table(change, question, arguments.model));
  }
  const LossChange change = change_texts(trained, texts_of(arguments, trained).texts, question);
  if (arguments.json) return print(reply_as_json(change_figures(change, question, arguments.model)));
  print_text(change_table(change, question, arguments.model));
}

// What is wrong with the other text is said of the option that gave it.
void run_change(ChangeArguments& arguments, const Given& /*all*/) {
  try {
    show_change(arguments);
  } catch (const InvalidArgument& error) {
    if (error.argument() != "from_text" || !arguments.from_example) throw;
    misuse("--from-example", error.expected(), error.got());
  }
}

void add_texts(Fields<ChangeArguments>& fields) {
  fields.add(&ChangeArguments::model, {.name = "model", .meaning = "Whose text", .required = true});
  fields.add(&ChangeArguments::text, {.name = "text", .meaning = "What it reads"});
  fields.add(&ChangeArguments::example, {.name = "example",
                                         .form = "N",
                                         .meaning = "Or held-out example N of its task",
                                         .least = 0,
                                         .most = kLastExample});
  fields.add(&ChangeArguments::file,
             {.name = "file", .form = "FILE", .meaning = "Or a text on each line: the mean loss"});
  fields.add(&ChangeArguments::examples, {.name = "examples",
                                          .form = "N",
                                          .meaning = "Or N held-out examples, likewise",
                                          .least = 1,
                                          .most = kMostExamples});
  fields.give_examples({{"model", "induction"}, {"text", "abcxyzab"}, {"file", "texts.txt"}});
}

void add_interventions(Fields<ChangeArguments>& fields) {
  const std::string group = "What is changed";
  const auto many = [&](const char* name, std::vector<std::string> ChangeArguments::* texts, const char* form,
                        const char* meaning) {
    fields.add(texts, {.name = name, .form = form, .meaning = meaning, .group = group});
  };
  many("remove", &ChangeArguments::removed, "HEAD", "Gives zeros: 1.0 is head 0 of layer 1, 1.* every head of it");
  many("pattern", &ChangeArguments::patterns, "HEAD=HOW",
       "Its weights: uniform, previous, self, a key's number, or text: those on --from-text (2.3=uniform)");
  many("set", &ChangeArguments::numbers, "L.H=PART:PLACE,N:X",
       "A number of a head's q, k, v or out at a place: 1.0=k:2,5:0.7");
  many("cut", &ChangeArguments::cuts, "QUERY:KEY", "The query no longer sees the key (7:3), in one head: 1.0=7:3");
  many("patch", &ChangeArguments::patches, "NAME[@PLACE]",
       "A value of --from-text: blocks.1, blocks.1@5, or of one head, blocks.1.attn.heads.0@5");
  fields.add(&ChangeArguments::from_text,
             {.name = "from_text", .form = "TEXT", .meaning = "The other text, of as many tokens", .group = group});
  fields.add(&ChangeArguments::from_example, {.name = "from_example",
                                              .form = "N",
                                              .meaning = "Or held-out example N of the task",
                                              .group = group,
                                              .least = 0,
                                              .most = kLastExample});
  fields.add(&ChangeArguments::freezes,
             {.name = "freeze_norms", .meaning = "Each norm divides by what it divided by before", .group = group});
  fields.give_examples({{"remove", "1.0"},
                        {"pattern", "1.0=uniform"},
                        {"set", "1.0=k:2,5:0.7"},
                        {"cut", "7:2"},
                        {"patch", "blocks.1"},
                        {"from_text", "xyzabcxy"}});
}

void add_looks(Fields<ChangeArguments>& fields) {
  const std::string group = "Where it is looked at";
  const auto token = [&](const char* name, std::optional<std::string> ChangeArguments::* value, const char* meaning) {
    fields.add(value, {.name = name, .form = "TOKEN", .meaning = meaning, .group = group});
  };
  token("query", &ChangeArguments::query, "A token or its number [the last that is asked]");
  token("token", &ChangeArguments::token, "The answer [the expected token, or the likeliest]");
  token("against", &ChangeArguments::against, "Its contrast [what the model says of --from-text]");
  fields.add(&ChangeArguments::sweep, {.name = "sweep",
                                       .form = "heads|places",
                                       .meaning = "Each in turn: heads removed; places patched from --from-text",
                                       .group = group,
                                       .words = {"heads", "places"}});
  fields.give_examples({{"query", "3"}, {"token", "c"}, {"against", "x"}});
}

Fields<ChangeArguments> fields_of_change() {
  const std::string pictures = "Pictures of a sweep";
  Fields<ChangeArguments> fields;
  add_texts(fields);
  add_interventions(fields);
  add_looks(fields);
  fields.add(&ChangeArguments::json, json_field());
  fields.add(&ChangeArguments::threads, threads_field());
  fields.add(&ChangeArguments::pictures, picture_fields(pictures));
  fields.add(&ChangeArguments::look, terminal_fields(pictures));
  return fields;
}

}  // namespace

void add_change(Commands& commands) {
  commands.add({.name = "change",
                .summary = "What a model says when something inside it is changed",
                .group = "Look inside",
                .footer = "MODEL is one of the box, a model file of your own, or a folder as models are\n"
                          "published. Heads are LAYER.HEAD, after source: or cross: of another site. Each\n"
                          "option of a change may be given again. docs/interventions.md has them all.\n"
                          "Examples:\n  qkv change induction abcxyzab --remove 1.0\n"
                          "  qkv change induction --examples 64 --remove 1.0\n"
                          "  qkv change gpt \"The cat sat on\" --pattern 1.4=uniform --freeze-norms\n"
                          "  qkv change gpt \"The cats\" --from-text \"The cat\" --sweep places --png a.png",
                .places = {"model", "text"}},
               fields_of_change(), run_change);
}

}  // namespace qkv::cli
