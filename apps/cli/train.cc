// qkv train: a model learns a task, and its heads are scored.
#include "qkv/view/train.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
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

constexpr int kInterrupted = 130;

struct TrainArguments {
  TrainSettings settings;
  TrainReporting reporting;
  std::string seed = std::to_string(TrainSettings{}.seed);
  std::optional<int> threads;
  std::string out;
  std::optional<std::int64_t> size;  // of a tokenizer
  bool resume = false;
  bool json = false;
};

void require_data(const TrainSettings& settings) {
  if (takes_data(settings.task) && settings.data.empty()) {
    misuse("DATA", settings.task == "text" ? "a file for text" : "a directory for " + settings.task, "none");
  }
  if (settings.task != "pictures") {
    const char* const why = "none but for pictures";
    if (settings.image_side) misuse("--image-side", why, std::to_string(*settings.image_side));
    if (settings.patch_side) misuse("--patch-side", why, std::to_string(*settings.patch_side));
  } else if (settings.length) {
    misuse("--length", "none for pictures", std::to_string(*settings.length));
  }
  if (settings.task != "text" && settings.from) misuse("--from", "none but for text", *settings.from);
  if (settings.task != "text" && settings.tokenizer) misuse("--tokenizer", "none but for text", *settings.tokenizer);
  if (!takes_data(settings.task) && !settings.data.empty()) {
    misuse("DATA", "none for the built-in task " + settings.task, settings.data);
  }
}

// Everything comes from the checkpoint: an option beside --resume would be forgotten.
void require_alone(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool may_stand = !option->nonpositional() || option->get_group() == "The run";
    if (option->count() == 0 || may_stand) continue;
    refuse(name, "cannot be given with --resume: a run goes on with the settings it began with");
  }
}

// What a run says of a setting, "train: warm_up: expected …", said of its option.
template <class Body>
auto of_settings(const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    if (error.function() != "train") throw;
    std::string option = "--" + error.argument();
    std::ranges::replace(option, '_', '-');
    if (option == "--task") option = "TASK";
    misuse(option, error.expected(), error.got());
  }
}

// The model's own beside one to go on from.
void require_no_model_options(const CLI::App& command) {
  for (const char* const name :
       {"--model", "--layers", "--d-model", "--heads", "--d-ff", "--positions", "--tokenizer"}) {
    if (command.count(name) > 0) refuse(name, "cannot be given with --from, whose model has its own");
  }
}

// What the command line did not say follows from the task, or from the model that it goes on from.
TrainSettings with_recipe(TrainSettings settings, const CLI::App& command) {
  const TrainSettings recipe = recipe_for(settings.task, command.count("--model") > 0 ? settings.model : "");
  const auto fill = [&](const char* option, auto& value, const auto& usual) {
    if (command.count(option) == 0) value = usual;
  };
  fill("--model", settings.model, recipe.model);
  fill("--layers", settings.layers, recipe.layers);
  fill("--d-model", settings.d_model, recipe.d_model);
  fill("--heads", settings.heads, recipe.heads);
  fill("--d-ff", settings.d_ff, recipe.d_ff);
  fill("--positions", settings.positions, recipe.positions);
  fill("--steps", settings.steps, recipe.steps);
  fill("--batch", settings.batch, recipe.batch);
  fill("--learning-rate", settings.learning_rate, settings.from ? kGentleRate : recipe.learning_rate);
  if (!settings.from) return settings;
  require_no_model_options(command);
  return of_settings([&] { return with_starting_model(settings); });
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
    const auto report = of_settings([&] { return run_training(settings, reporting, place, start.how, watch); });
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
TrainReporting resumed_reporting(const TrainArguments& arguments, const TrainReporting& saved,
                                 const CLI::App& command) {
  TrainReporting reporting = arguments.reporting;
  if (command.count("--examine-every") == 0) reporting.examine_every = saved.examine_every;
  if (command.count("--save-every") == 0) reporting.save_every = saved.save_every;
  if (command.count("--keep-every") == 0) reporting.keep_every = saved.keep_every;
  if (command.count("--examples") == 0) reporting.examples = saved.examples;
  return reporting;
}

void resume(const TrainArguments& arguments, const TrainPlace& place, const CLI::App& command) {
  require_alone(command);
  of_settings([&] { require_sound({}, arguments.reporting); });
  if (!fs::exists(place.checkpoint())) misuse("--resume", "a checkpoint in " + place.directory, "none");
  const SavedRun saved = read_saved_run(place);
  const auto held = [&](const std::string& what) { return what + ", which " + place.directory + " holds"; };
  const TrainSettings& given = arguments.settings;
  if (saved.settings.task != given.task) misuse("TASK", held(saved.settings.task), given.task);
  if (saved.settings.data != given.data) misuse("DATA", held(saved.settings.data), given.data);
  train_at(saved.settings, resumed_reporting(arguments, saved.reporting, command), place,
           {.how = TrainStart::resumed, .done = saved.steps}, arguments.json);
}

void run(TrainArguments& arguments, const CLI::App& command) {
  if (arguments.settings.task == "tokenizer") {
    return run_tokenizer_training(
        {.data = arguments.settings.data, .out = arguments.out, .size = arguments.size, .json = arguments.json},
        command);
  }
  if (arguments.size) misuse("--size", "none but for a tokenizer", std::to_string(*arguments.size));
  const TrainPlace place{.directory = arguments.out.empty() ? "qkv-" + arguments.settings.task : arguments.out};
  arguments.settings.seed = seed_of(arguments.seed);
  require_data(arguments.settings);
  if (arguments.threads) set_threads(*arguments.threads);
  if (arguments.resume) return resume(arguments, place, command);
  const TrainSettings settings = with_recipe(arguments.settings, command);
  of_settings([&] { require_sound(settings, arguments.reporting); });
  if (fs::exists(place.checkpoint())) {
    refuse("--out", place.directory + " already has a checkpoint: add --resume, or choose another --out");
  }
  if (settings.from) say_cautions("qkv train", Model::open(trained_model_path(*settings.from)));
  train_at(settings, arguments.reporting, place, {}, arguments.json);
}

// The options of a group, each with what its value looks like.
struct TrainGroup {
  CLI::App& command;
  std::string name;

  template <class Text>
  CLI::Option* named(const char* option, Text& value, const char* meaning) const {
    return command.add_option(option, value, meaning)->type_name("NAME")->group(name);
  }
  template <class Whole>
  CLI::Option* whole(const char* option, Whole& value, const char* meaning) const {
    return command.add_option(option, value, meaning)->type_name("N")->check(a_whole_number())->group(name);
  }
  CLI::Option* number(const char* option, double& value, const char* meaning) const {
    return command.add_option(option, value, meaning)->type_name("X")->check(a_number())->group(name);
  }
};

void add_model_options(CLI::App& command, TrainSettings& settings) {
  const TrainGroup group{command, "The model"};
  group.named("--model", settings.model, "decoder, encoder, encoder-decoder, captioner or two-tower");
  group.whole("--layers", settings.layers, "Blocks of each stack");
  group.whole("--d-model", settings.d_model, "Width");
  group.whole("--heads", settings.heads, "Heads of a block");
  group.whole("--d-ff", settings.d_ff, "Width inside the feed-forward layer (4 d_model)");
  group.named("--positions", settings.positions, "none, sinusoidal, learned, rotary, alibi or t5");
}

void add_training_options(CLI::App& command, TrainSettings& settings) {
  const TrainGroup group{command, "Training"};
  group.whole("--steps", settings.steps, "Steps");
  group.whole("--batch", settings.batch, "Examples of a batch");
  group.whole("--accumulation", settings.accumulation, "Batches of a step")->capture_default_str();
  group.named("--optimizer", settings.optimizer, "adamw or sgd")->capture_default_str();
  group.number("--momentum", settings.momentum, "Of sgd")->capture_default_str();
  group.number("--learning-rate", settings.learning_rate, "The highest");
  group.named("--schedule", settings.schedule, "cosine (down to 0) or constant")->capture_default_str();
  group.whole("--warm-up", settings.warm_up, "Steps up to the highest rate")->capture_default_str();
  group.number("--weight-decay", settings.weight_decay, "Of matrices")->capture_default_str();
  group.number("--clip", settings.clip, "Largest norm of the gradients")->capture_default_str();
  group.number("--dropout", settings.dropout, "Share of numbers left out")->capture_default_str();
  group.named("--dtype", settings.dtype, "What is computed in: f32 or bf16; parameters are f32")
      ->type_name("TYPE")
      ->capture_default_str();
  group.named("--store", settings.stored, "What the model's file holds: f32, bf16 or f16 [f32]")->type_name("TYPE");
  group.whole("--length", settings.length, "Of the examples, in the task's unit");
  group.whole("--image-side", settings.image_side, "Pixels that pictures are brought to (48)");
  group.whole("--patch-side", settings.patch_side, "Pixels of a patch of pictures (8)");
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  const std::string group = "The run";
  command.add_option("--out", arguments.out, "Where checkpoint, model, log and pictures go (qkv-TASK)")
      ->type_name("DIR")
      ->group(group);
  command.add_flag("--resume", arguments.resume, "Go on from the checkpoint in DIR, bit for bit")->group(group);
  const TrainGroup steps{command, group};
  TrainReporting& reporting = arguments.reporting;
  steps.whole("--save-every", reporting.save_every, "Steps between checkpoints")->capture_default_str();
  steps.whole("--keep-every", reporting.keep_every, "Steps between models that are kept, to watch heads form; 0: none")
      ->capture_default_str();
  steps.whole("--examine-every", reporting.examine_every, "Steps between examinations")->capture_default_str();
  steps.whole("--examples", reporting.examples, "Held-out examples of an examination")->capture_default_str();
  add_threads_option(command, arguments.threads)->group(group);
  command.add_flag("--json", arguments.json, "Print the result as JSON")->group(group);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a model on a task, your text or your pictures");
  command->group("Learn");
  command->footer(
      "Settings without a default here follow from the task.\n"
      "Ctrl-C saves and ends with 130.\n"
      "Examples:\n  qkv train induction\n  qkv train copy --layers 1 --heads 2 --out copy\n"
      "  qkv train copy --out copy --resume\n  qkv train text book.txt\n"
      "  qkv train text book.txt --from gpt --steps 200\n"
      "  qkv train pictures photos --model two-tower\n"
      "  qkv train tokenizer book.txt --size 4000 --out tokenizer.json");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("TASK", arguments->settings.task, "One that `qkv task` lists, or text, pictures, tokenizer")
      ->required();
  command->add_option("DATA", arguments->settings.data,
                      "For text and tokenizer a file, UTF-8; for pictures a directory of PNG files with captions");
  command->add_option("--size", arguments->size, "Pieces of a tokenizer (8000)")
      ->type_name("N")
      ->check(a_whole_number())
      ->group("A tokenizer");
  command
      ->add_option("--tokenizer", arguments->settings.tokenizer,
                   "Of text: tokens of this file or model folder [characters]")
      ->type_name("PATH")
      ->group("The model");
  command
      ->add_option("--from", arguments->settings.from,
                   "Of text: go on from this model of the box, file or folder, with its tokenizer")
      ->type_name("MODEL")
      ->group("The model");
  add_model_options(*command, arguments->settings);
  add_training_options(*command, arguments->settings);
  add_seed_option(*command, arguments->seed, "Of the model, the examples and dropout")
      ->capture_default_str()
      ->group("Training");
  add_run_options(*command, *arguments);
  command->callback([arguments, command] { run(*arguments, *command); });
}

}  // namespace qkv::cli
