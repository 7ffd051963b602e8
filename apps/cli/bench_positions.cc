// qkv bench positions: train short, test long.
#include "bench_positions.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/study/positions.h"
#include "qkv/threads.h"
#include "qkv/train/task.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchPositions = "qkv bench positions";
constexpr std::int64_t kLargest = std::int64_t{1} << 20;

struct PositionsArguments {
  PositionSetup setup;
  std::vector<std::string> kinds = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};
  std::optional<std::int64_t> train_length;
  std::vector<std::int64_t> test_lengths;
  std::string seed = "1";
  std::optional<int> threads;
  PicturePaths pictures;
  bool plot = false;
  bool json = false;
};

// Before minutes of training: every length of it must be one of the task.
void read_lengths(const PositionsArguments& arguments, PositionSetup& setup) {
  const TaskInfo info = of_option("--task", [&] { return make_task(setup.task)->info(); });
  if (!info.length) misuse("--task", "a task whose examples have a length", info.name);
  setup.train_length = arguments.train_length.value_or(info.length->usual);
  setup.test_lengths = arguments.test_lengths;
  for (std::int64_t times = 1; arguments.test_lengths.empty() && times <= 8; times *= 2) {
    const std::int64_t length = std::min(times * setup.train_length, info.length->most);
    if (setup.test_lengths.empty() || length > setup.test_lengths.back()) setup.test_lengths.push_back(length);
  }
  std::ranges::sort(setup.test_lengths);
  setup.test_lengths.erase(std::ranges::unique(setup.test_lengths).begin(), setup.test_lengths.end());
  const auto of_task = [&](const char* option, std::int64_t length) {
    static_cast<void>(of_option(option, [&] { return make_task(setup.task, {.length = length}); }));
  };
  of_task("--train-length", setup.train_length);
  for (const std::int64_t length : setup.test_lengths) of_task("--test-lengths", length);
}

void read_kinds(const PositionsArguments& arguments, PositionSetup& setup) {
  for (const std::string& name : arguments.kinds) {
    setup.kinds.push_back(of_option("--kinds", [&] { return positions_named(name); }));
  }
}

void require_sound(const PositionSetup& setup) {
  if (!std::isfinite(setup.learning_rate) || setup.learning_rate <= 0) {
    misuse("--learning-rate", "a finite number above 0", fmt::format("{}", setup.learning_rate));
  }
  if (setup.d_model % (2 * setup.heads) != 0) {
    misuse("--d-model", fmt::format("a multiple of {}, twice the heads", 2 * setup.heads),
           std::to_string(setup.d_model));
  }
}

void show(const PositionsArguments& arguments, const std::vector<PositionResult>& results) {
  const PositionSetup& setup = arguments.setup;
  if (std::ranges::none_of(results, [](const PositionResult& result) { return result.failed.empty(); })) {
    throw Error(fmt::format("no training came to its end: {}: {}", name_of(results[0].kind), results[0].failed));
  }
  const Chart chart = positions_chart(setup, results);
  write_pictures(arguments.pictures, chart);
  if (arguments.json) return print(positions_json(setup, results));
  print_text(positions_table(setup, results));
  if (arguments.plot) print("\n" + to_terminal(chart, terminal_options("auto", std::nullopt)));
}

std::vector<PositionResult> measured(const PositionSetup& setup) {
  Progress progress;
  const PositionWatch watch = {
      .doing = [&](const std::string& what) { progress.show(fmt::format("{}: {}", kBenchPositions, what)); },
      .stopped = [] { return InterruptWatch::interrupted(); },
      .done =
          [&](const PositionResult& result) {
            progress.note(fmt::format("{}: {} is done, after {}", kBenchPositions, name_of(result.kind),
                                      duration_text(result.seconds)));
          }};
  return run_positions(setup, watch);
}

void run(PositionsArguments& arguments) {
  arguments.setup.seed = seed_of(arguments.seed);
  read_kinds(arguments, arguments.setup);
  read_lengths(arguments, arguments.setup);
  require_sound(arguments.setup);
  check_files({}, places_of(arguments.pictures));
  if (arguments.threads) set_threads(*arguments.threads);
  const InterruptWatch interrupts;
  const std::vector<PositionResult> results = measured(arguments.setup);
  if (!results.empty()) show(arguments, results);
  if (!InterruptWatch::interrupted()) return;
  flush_output();
  complain(kBenchPositions,
           results.empty() ? "stopped; nothing was measured" : "stopped; this is what was measured until then");
  throw Exit{kInterrupted};
}

void add_question(CLI::App& command, PositionsArguments& arguments) {
  command.add_option("--task", arguments.setup.task, "One that `qkv task` lists, for a decoder, with a length")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--kinds", arguments.kinds, "Of none, sinusoidal, learned, rotary, alibi, t5 [all]")
      ->type_name("KIND,…")
      ->delimiter(',');
  command.add_option("--train-length", arguments.train_length, "Of the examples in training [the task's own]")
      ->type_name("N")
      ->check(between(1, kLargest));
  command.add_option("--test-lengths", arguments.test_lengths, "Of the examinations [1, 2, 4 and 8 times that]")
      ->type_name("N,…")
      ->delimiter(',')
      ->check(between(1, kLargest));
  command.add_option("--examples", arguments.setup.examples, "Held out, of each length")
      ->type_name("N")
      ->check(between(1, kLargest))
      ->capture_default_str();
  add_seed_option(command, arguments.seed, "Of the models and the examples")->capture_default_str();
}

void add_training(CLI::App& command, PositionSetup& setup) {
  const std::string group = "The models";
  const auto whole = [&](const char* option, std::int64_t& value, const char* what) {
    command.add_option(option, value, what)
        ->type_name("N")
        ->check(between(1, kLargest))
        ->capture_default_str()
        ->group(group);
  };
  whole("--layers", setup.layers, "Blocks");
  whole("--d-model", setup.d_model, "Width");
  whole("--heads", setup.heads, "Heads of a block");
  whole("--steps", setup.steps, "Steps of training");
  whole("--batch", setup.batch, "Examples of a step");
  command.add_option("--learning-rate", setup.learning_rate, "The highest; half a cosine down to 0")
      ->type_name("X")
      ->check(a_number())
      ->capture_default_str()
      ->group(group);
}

void add_output(CLI::App& command, PositionsArguments& arguments) {
  add_threads_option(command, arguments.threads);
  command.add_flag("--json", arguments.json, "Print JSON");
  command.add_flag("--plot", arguments.plot, "Draw the chart in the terminal, too")
      ->excludes(command.get_option("--json"));
  add_pictures(command, arguments.pictures, "Options");
}

}  // namespace

void add_bench_positions(CLI::App& family) {
  CLI::App* command = family.add_subcommand(
      "positions", "Train decoders on short examples and test them on longer ones, for each kind of positions");
  command->footer(
      "Examples:\n  qkv bench positions --plot --png positions.png\n"
      "  qkv bench positions --task copy --kinds learned,rotary --test-lengths 8,12,16");
  const auto arguments = std::make_shared<PositionsArguments>();
  add_question(*command, *arguments);
  add_training(*command, arguments->setup);
  add_output(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace qkv::cli
