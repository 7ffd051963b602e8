// qkv change: what a model says when something inside it is changed.
#include "qkv/insight/change.h"

#include <fmt/format.h>

#include <optional>
#include <string>

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

struct ChangeArguments : InterventionRequest {
  std::string file;
  PicturePaths pictures;
  TerminalLook look;
  std::optional<int> threads;
  bool json = false;
};

// What has no meaning beside the command's own fields.
void require_together(const ChangeArguments& arguments) {
  const bool has_one = arguments.of.text || arguments.of.example || arguments.examples;
  if (has_one == !arguments.file.empty()) {
    misuse("TEXT", "one of TEXT, --example, --file and --examples", has_one ? "several" : "none");
  }
  if (!arguments.pictures.empty() && arguments.sweep.empty()) {
    misuse("--svg, --png, --pdf", "a --sweep to draw", "none");
  }
}

void run_sweep(const ChangeArguments& arguments, const TextModel& trained, const ChangeQuestion& question) {
  check_files({{"MODEL", arguments.model}}, places_of(arguments.pictures));
  const Sweep sweep = [&] {
    Progress line;
    return swept(trained, arguments, question, [&](const std::string& what) { line.show(what); });
  }();
  const Panel panel = sweep_panel(sweep, arguments);
  write_pictures(arguments.pictures, panel);
  if (arguments.json) return print(reply_as_json(sweep_figures(sweep, question, arguments.model)));
  std::string text = fmt::format("{}: {:.4f} before", sweep.measure, sweep.before);
  if (sweep.other) text += fmt::format(", {:.4f} of the other text", *sweep.other);
  print(text + "; its change:\n\n" + to_terminal(panel, terminal_options(arguments.look.color, arguments.look.width)));
  print_text("\n" + sweep_table(sweep));
  print(pictures_report(arguments.pictures));
}

HeadTexts texts_of(const ChangeArguments& arguments, const TextModel& trained) {
  if (!arguments.file.empty()) return texts_of_lines(trained, "--file", arguments.file);
  return of_option("--examples", [&] { return texts_to_look_at(trained, *arguments.examples); });
}

void show_change(const ChangeArguments& arguments) {
  if (arguments.threads) set_threads(*arguments.threads);
  require_together(arguments);
  const ChangedTexts texts = arguments.file.empty() ? ChangedTexts::of_request : ChangedTexts::own;
  ChangeQuestion question = change_question(arguments, texts);
  const std::string path = trained_model_path(arguments.model);
  const TrainedModel trained = opened_model("qkv change", arguments.model);
  if (trained.traits().fills) question.vectors = vectors_without_prompt("qkv change", path);
  if (arguments.of.text) warn_outside("qkv change", trained, *arguments.of.text);
  if (!arguments.sweep.empty()) return run_sweep(arguments, trained, question);
  if (arguments.of.text || arguments.of.example) {
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

Fields<ChangeArguments> fields_of_change() {
  const std::string pictures = "Pictures of a sweep";
  Fields<ChangeArguments> fields;
  fields.add(intervention_fields());
  fields.add(&ChangeArguments::file,
             {.name = "file", .form = "FILE", .meaning = "Instead of a text: one on each line, the mean loss"});
  fields.give_examples({{"file", "texts.txt"}});
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
