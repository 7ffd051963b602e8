// qkv train: a model learns a task, and its heads are scored.
#include "qkv/api/train.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "opened_model.h"
#include "output.h"
#include "qkv/threads.h"
#include "qkv/train/run.h"
#include "terminal.h"
#include "train_chart.h"
#include "train_progress.h"
#include "train_text.h"
#include "train_tokenizer.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

namespace fs = std::filesystem;

struct TrainFlags : TrainRun {
  std::optional<int> threads;
  bool resume = false;
  bool json = false;
};

constexpr const char* kOfRun = "The run";

Fields<TrainFlags> fields_of_train() {
  Fields<TrainFlags> fields;
  fields.add(train_run_fields());
  fields.add(&TrainFlags::resume,
             {.name = "resume", .meaning = "Go on from the checkpoint in DIR, bit for bit", .group = kOfRun});
  fields.add(&TrainFlags::threads, threads_field(kOfRun));
  fields.add(&TrainFlags::json, json_field("Print the result as JSON", kOfRun));
  return fields;
}

// Everything comes from the checkpoint: an option beside --resume would be forgotten.
void require_alone(const Given& given) {
  for (const FieldInfo& field : train_settings_fields().infos()) {
    if (field.name == "task" || field.name == "data" || !given.has(field.name)) continue;
    refuse(option_named(field.name), "cannot be given with --resume: a run goes on with the settings it began with");
  }
}

struct Start {
  TrainStart how = TrainStart::anew;
  std::int64_t done = 0;  // steps
};

// nullopt after Ctrl-C, once all is saved.
std::optional<TrainReport> report_of(const TrainSettings& settings, const TrainReporting& reporting,
                                     const TrainPlace& place, const Start& start) {
  const InterruptWatch interrupts;
  TrainProgress progress(settings.task, start.done, settings.steps);
  const TrainWatch watch{.stepped = [&](const LoggedStep& step) { progress.show(step); },
                         .doing = [&](const std::string& what) { progress.say(what); },
                         .stopped = InterruptWatch::interrupted};
  try {
    const auto report = run_training(settings, reporting, place, start.how, watch);
    draw_losses(settings, place);
    return report;
  } catch (const Diverged& error) {
    draw_losses(settings, place);
    throw Error(
        fmt::format("{}; {} holds the last checkpoint: to begin anew, say with a lower --learning-rate, name "
                    "another --out or empty it",
                    error.what(), place.directory));
  }
}

void train_at(const TrainSettings& settings, const TrainReporting& reporting, const TrainPlace& place,
              const Start& start, bool as_json) {
  const std::optional<TrainReport> report = report_of(settings, reporting, place, start);
  if (report && as_json) return print(reply_as_json(train_reply(*report)));
  if (report) return print_text(text_of(*report, place));
  complain("qkv train", fmt::format("stopped after step {} of {}, all saved; go on with: {}",
                                    read_log(place).back().step, settings.steps, resuming_command(settings, place)));
  throw Exit{kInterrupted};
}

// What is said of reporting beside --resume counts from here on.
TrainReporting resumed_reporting(const TrainFlags& arguments, const TrainReporting& saved, const Given& given) {
  TrainReporting reporting = arguments.reporting;
  if (!given.has("examine_every")) reporting.examine_every = saved.examine_every;
  if (!given.has("save_every")) reporting.save_every = saved.save_every;
  if (!given.has("keep_every")) reporting.keep_every = saved.keep_every;
  if (!given.has("examples")) reporting.examples = saved.examples;
  return reporting;
}

void resume(const TrainFlags& arguments, const TrainPlace& place, const Given& given) {
  require_alone(given);
  require_sound({}, arguments.reporting);
  if (!fs::exists(place.checkpoint())) misuse("--resume", "a checkpoint in " + place.directory, "none");
  const SavedRun saved = read_saved_run(place);
  const auto held = [&](const std::string& what) { return what + ", which " + place.directory + " holds"; };
  const TrainSettings& asked = arguments.settings;
  if (saved.settings.task != asked.task) misuse("TASK", held(saved.settings.task), asked.task);
  if (saved.settings.data != asked.data) misuse("DATA", held(saved.settings.data), asked.data);
  train_at(saved.settings, resumed_reporting(arguments, saved.reporting, given), place,
           {.how = TrainStart::resumed, .done = saved.steps}, arguments.json);
}

void run_train(TrainFlags& arguments, const Given& given) {
  if (arguments.settings.task == "tokenizer") {
    return run_tokenizer_training(tokenizer_run(arguments, given), arguments.json);
  }
  if (arguments.size) misuse("--size", "none but for a tokenizer", std::to_string(*arguments.size));
  const TrainPlace place{.directory = arguments.out.empty() ? "qkv-" + arguments.settings.task : arguments.out};
  require_data(arguments.settings);
  if (arguments.threads) set_threads(*arguments.threads);
  if (arguments.resume) return resume(arguments, place, given);
  const TrainSettings settings = with_recipe(arguments.settings, given);
  require_sound(settings, arguments.reporting);
  if (fs::exists(place.checkpoint())) {
    refuse("--out", place.directory + " already has a checkpoint: add --resume, or choose another --out");
  }
  if (settings.from) say_cautions("qkv train", Model::open(trained_model_path(*settings.from)));
  train_at(settings, arguments.reporting, place, {}, arguments.json);
}

}  // namespace

void add_train(Commands& commands) {
  commands.add({.name = "train",
                .summary = "Train a model on a task, your text or your pictures",
                .group = "Train",
                .footer = "Settings without a default here follow from the task.\n"
                          "Ctrl-C saves and ends with 130.\n"
                          "Examples:\n  qkv train induction\n  qkv train copy --layers 1 --heads 2 --out copy\n"
                          "  qkv train copy --out copy --resume\n  qkv train text book.txt\n"
                          "  qkv train text book.txt --from gpt --steps 200\n"
                          "  qkv train pictures photos --model two-tower\n"
                          "  qkv train tokenizer book.txt --size 4000 --out tokenizer.json",
                .places = {"task", "data"}},
               fields_of_train(), run_train);
}

}  // namespace qkv::cli
