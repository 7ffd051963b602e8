// qkv train: a model learns a task, and its heads are scored.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "qkv/train/checkpoint.h"
#include "train_data.h"
#include "train_run.h"

namespace qkv::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  TrainSettings settings;
  TrainReporting reporting;
  std::string seed = std::to_string(TrainSettings{}.seed);
  std::optional<int> threads;
  std::string out;
  bool resume = false;
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
  if (!takes_data(settings.task) && !settings.data.empty()) {
    misuse("DATA", "none for the built-in task " + settings.task, settings.data);
  }
}

// Everything comes from the checkpoint: an option beside --resume would be forgotten.
void require_alone(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool may_stand = !option->nonpositional() || option->get_group() == "The run";
    if (option->count() > 0 && !may_stand) misuse(name, "nothing of it beside --resume, which goes on as begun", name);
  }
}

// What the command line did not say follows from the task.
TrainSettings with_recipe(TrainSettings settings, const CLI::App& command) {
  const Recipe recipe = recipe_for(settings.task);
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
  fill("--learning-rate", settings.learning_rate, recipe.learning_rate);
  return settings;
}

// A damaged word of the checkpoint ends the command as a failure, not as a misuse of options.
template <class Body>
auto of_checkpoint(const TrainPlace& place, const Body& body) {
  try {
    return body();
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string word = text.substr(0, colon);
    word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
    std::ranges::replace(word, '-', '_');
    if (words_of(TrainReporting{}).contains("report." + word)) word.insert(0, "report.");
    throw Error(place.checkpoint() + ": run." + word + text.substr(colon));
  } catch (const Error& error) {
    throw Error(place.checkpoint() + ": " + error.what());
  }
}

// What is said of reporting beside --resume counts from here on.
TrainReporting resumed_reporting(const TrainArguments& arguments, const TrainReporting& saved,
                                 const CLI::App& command) {
  TrainReporting reporting = arguments.reporting;
  if (command.count("--examine-every") == 0) reporting.examine_every = saved.examine_every;
  if (command.count("--save-every") == 0) reporting.save_every = saved.save_every;
  if (command.count("--examples") == 0) reporting.examples = saved.examples;
  return reporting;
}

void require_length(const TrainSettings& settings) {
  if (takes_data(settings.task)) return;
  static_cast<void>(of_option("--length", [&] { return make_task(settings.task, {.length = settings.length}); }));
}

void resume(const TrainArguments& arguments, const TrainPlace& place, const CLI::App& command) {
  require_alone(command);
  require_sound(TrainSettings{}, arguments.reporting);
  if (!fs::exists(place.checkpoint())) misuse("--resume", "a checkpoint in " + place.directory, "none");
  const std::map<std::string, std::string> words = Checkpoint::read(place.checkpoint()).run();
  TrainSettings settings;
  TrainReporting reporting;
  of_checkpoint(place, [&] {
    settings = settings_of(words);
    reporting = reporting_of(words);
    require_sound(settings, reporting);
  });
  const auto held = [&](const std::string& what) { return what + ", which " + place.directory + " holds"; };
  if (settings.task != arguments.settings.task) misuse("TASK", held(settings.task), arguments.settings.task);
  if (settings.data != arguments.settings.data) misuse("DATA", held(settings.data), arguments.settings.data);
  of_checkpoint(place, [&] { require_length(settings); });
  run_training(settings, place, resumed_reporting(arguments, reporting, command), TrainStart::resumed);
}

void run(TrainArguments& arguments, const CLI::App& command) {
  const TrainPlace place{.directory = arguments.out.empty() ? "qkv-" + arguments.settings.task : arguments.out};
  arguments.settings.seed = seed_of(arguments.seed);
  require_data(arguments.settings);
  if (arguments.threads) set_threads(*arguments.threads);
  if (arguments.resume) return resume(arguments, place, command);
  const TrainSettings settings = with_recipe(arguments.settings, command);
  require_sound(settings, arguments.reporting);
  if (fs::exists(place.checkpoint())) {
    misuse("--out", "a place without a checkpoint; --resume goes on with it", place.directory);
  }
  run_training(settings, place, arguments.reporting, TrainStart::anew);
}

void add_model_options(CLI::App& command, TrainSettings& settings) {
  const std::string group = "The model";
  command.add_option("--model", settings.model, "decoder, encoder, encoder-decoder, captioner or two-tower")
      ->group(group);
  command.add_option("--layers", settings.layers, "Blocks of each stack")->group(group);
  command.add_option("--d-model", settings.d_model, "Width")->group(group);
  command.add_option("--heads", settings.heads, "Heads of a block")->group(group);
  command.add_option("--d-ff", settings.d_ff, "Width inside the feed-forward layer (4 d_model)")->group(group);
  command.add_option("--positions", settings.positions, "none, sinusoidal, learned, rotary, alibi or t5")->group(group);
}

void add_training_options(CLI::App& command, TrainSettings& settings) {
  const std::string group = "Training";
  command.add_option("--steps", settings.steps, "Steps")->group(group);
  command.add_option("--batch", settings.batch, "Examples of a batch")->group(group);
  command.add_option("--accumulation", settings.accumulation, "Batches of a step")->capture_default_str()->group(group);
  command.add_option("--optimizer", settings.optimizer, "adamw or sgd")->capture_default_str()->group(group);
  command.add_option("--momentum", settings.momentum, "Of sgd")->capture_default_str()->group(group);
  command.add_option("--learning-rate", settings.learning_rate, "The highest")->group(group);
  command.add_option("--schedule", settings.schedule, "cosine (down to 0) or constant")
      ->capture_default_str()
      ->group(group);
  command.add_option("--warm-up", settings.warm_up, "Steps up to the highest rate")
      ->capture_default_str()
      ->group(group);
  command.add_option("--weight-decay", settings.weight_decay, "Of matrices")->capture_default_str()->group(group);
  command.add_option("--clip", settings.clip, "Largest norm of the gradients")->capture_default_str()->group(group);
  command.add_option("--dropout", settings.dropout, "Share of numbers left out")->capture_default_str()->group(group);
  command.add_option("--dtype", settings.dtype, "What is computed in: f32 or bf16; parameters are f32")
      ->capture_default_str()
      ->group(group);
  command.add_option("--length", settings.length, "Of the examples, in the task's unit")->group(group);
  command.add_option("--image-side", settings.image_side, "Pixels that pictures are brought to (48)")->group(group);
  command.add_option("--patch-side", settings.patch_side, "Pixels of a patch of pictures (8)")->group(group);
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  const std::string group = "The run";
  command.add_option("--out", arguments.out, "Where checkpoint, model, log and pictures go (qkv-TASK)")
      ->type_name("DIR")
      ->group(group);
  command.add_flag("--resume", arguments.resume, "Go on from the checkpoint in DIR, bit for bit")->group(group);
  command.add_option("--save-every", arguments.reporting.save_every, "Steps between checkpoints")
      ->capture_default_str()
      ->group(group);
  command.add_option("--examine-every", arguments.reporting.examine_every, "Steps between examinations")
      ->capture_default_str()
      ->group(group);
  command.add_option("--examples", arguments.reporting.examples, "Held-out examples of an examination")
      ->capture_default_str()
      ->group(group);
  add_threads_option(command, arguments.threads)->group(group);
  command.add_flag("--json", arguments.reporting.json, "Print the result as JSON")->group(group);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a model on a task, your text or your pictures");
  command->group("Learn");
  command->footer(
      "Settings without a default here follow from the task. Ctrl-C saves and ends with 130.\n"
      "Examples:\n  qkv train induction\n  qkv train copy --layers 1 --heads 2 --out copy\n"
      "  qkv train copy --out copy --resume\n  qkv train text book.txt\n"
      "  qkv train pictures photos --model two-tower");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("TASK", arguments->settings.task, "One that `qkv task` lists, or text, or pictures")->required();
  command->add_option("DATA", arguments->settings.data,
                      "For text a file, UTF-8; for pictures a directory of PNG files with captions");
  add_model_options(*command, arguments->settings);
  add_training_options(*command, arguments->settings);
  add_seed_option(*command, arguments->seed, "Of the model, the examples and dropout")
      ->capture_default_str()
      ->group("Training");
  add_run_options(*command, *arguments);
  command->callback([arguments, command] { run(*arguments, *command); });
}

}  // namespace qkv::cli
