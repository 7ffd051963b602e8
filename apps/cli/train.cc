// qkv train: a model learns a task, and its heads are scored.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "misuse.h"
#include "qkv/files.h"
#include "qkv/train/checkpoint.h"
#include "train_data.h"
#include "train_run.h"

namespace qkv::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  TrainSettings settings;
  TrainReporting reporting;
  std::string out;
  bool resume = false;
};

void require_positive(const char* option, std::int64_t value) {
  if (value < 1) misuse(option, "1 or more", std::to_string(value));
}

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

void require_sound(const TrainSettings& settings, const TrainReporting& reporting) {
  require_positive("--steps", settings.steps);
  require_positive("--batch", settings.batch);
  require_positive("--accumulation", settings.accumulation);
  require_positive("--examine-every", reporting.examine_every);
  require_positive("--save-every", reporting.save_every);
  require_positive("--examples", reporting.examples);
  if (settings.warm_up < 0) misuse("--warm-up", "0 or more", std::to_string(settings.warm_up));
  if (settings.dtype != "f32" && settings.dtype != "bf16")
    misuse("--dtype", "f32 or bf16", "\"" + settings.dtype + "\"");
  if (!(settings.dropout >= 0 && settings.dropout < 1)) {
    misuse("--dropout", "a number in [0, 1)", fmt::format("{}", settings.dropout));
  }
  if (settings.optimizer != "adamw" && settings.optimizer != "sgd") {
    misuse("--optimizer", "adamw or sgd", "\"" + settings.optimizer + "\"");
  }
  if (!(settings.momentum >= 0 && settings.momentum < 1)) {
    misuse("--momentum", "a number in [0, 1)", fmt::format("{}", settings.momentum));
  }
  of_option("--schedule", [&] { return schedule_named(settings.schedule); });
  of_option("--model", [&] { return model_kind_named(settings.model); });
  of_option("--positions", [&] { return learn::positions_named(settings.positions); });
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

TrainSettings resumed(const TrainArguments& arguments, const TrainPlace& place) {
  if (!fs::exists(place.checkpoint())) misuse("--resume", "a checkpoint in " + place.directory, "none");
  TrainSettings settings = settings_of(Checkpoint::read(place.checkpoint()).facts().run);
  const auto held = [&](const std::string& what) { return what + ", which " + place.directory + " holds"; };
  if (settings.task != arguments.settings.task) misuse("TASK", held(settings.task), arguments.settings.task);
  if (settings.data != arguments.settings.data) misuse("DATA", held(settings.data), arguments.settings.data);
  return settings;
}

void run(const TrainArguments& arguments, const CLI::App& command) {
  const TrainPlace place{.directory = arguments.out.empty() ? "qkv-" + arguments.settings.task : arguments.out};
  require_data(arguments.settings);
  if (arguments.resume) {
    require_alone(command);
    return run_training(resumed(arguments, place), place, arguments.reporting, TrainStart::resumed);
  }
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
  command.add_option("--seed", settings.seed, "Of the model, the examples and dropout")
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
  add_run_options(*command, *arguments);
  command->callback([arguments, command] { run(*arguments, *command); });
}

}  // namespace qkv::cli
