// qkv bench positions: train short, test long.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/threads.h"
#include "qkv/train/task.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchPositions = "qkv bench positions";
constexpr std::int64_t kLargest = std::int64_t{1} << 20;

const std::vector<std::string> kKinds = {"none", "sinusoidal", "learned", "rotary", "alibi", "t5"};

struct PositionsArguments {
  PositionSetup setup;
  std::vector<std::string> kinds;
  std::optional<std::int64_t> train_length;
  std::vector<std::int64_t> test_lengths;
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
  for (const std::string& name : arguments.kinds.empty() ? kKinds : arguments.kinds) {
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
  if (arguments.json) return print(reply_as_json(positions_figures(setup, results)));
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

void run_bench_positions(PositionsArguments& arguments, const Given& /*all*/) {
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

void add_question(Fields<PositionsArguments>& fields) {
  using A = PositionsArguments;
  Fields<PositionSetup> of_setup;
  of_setup.add(&PositionSetup::task,
               {.name = "task", .form = "NAME", .meaning = "One that `qkv task` lists, for a decoder, with a length"});
  of_setup.add(&PositionSetup::examples,
               {.name = "examples", .form = "N", .meaning = "Held out, of each length", .least = 1, .most = kLargest});
  of_setup.add(&PositionSetup::seed, seed_field("Of the models and the examples"));
  fields.add(&A::kinds, {.name = "kinds",
                         .form = "KIND,…",
                         .meaning = "Of none, sinusoidal, learned, rotary, alibi, t5 [all]",
                         .words = kKinds});
  fields.add(&A::train_length, {.name = "train_length",
                                .form = "N",
                                .meaning = "Of the examples in training [the task's own]",
                                .least = 1,
                                .most = kLargest});
  fields.add(&A::test_lengths, {.name = "test_lengths",
                                .form = "N,…",
                                .meaning = "Of the examinations [1, 2, 4 and 8 times that]",
                                .least = 1,
                                .most = kLargest});
  fields.add(&A::setup, of_setup);
}

void add_training(Fields<PositionsArguments>& fields) {
  const std::string group = "The models";
  Fields<PositionSetup> of_setup;
  const auto whole = [&](std::int64_t PositionSetup::* place, const char* name, const char* meaning) {
    of_setup.add(place, {.name = name, .form = "N", .meaning = meaning, .group = group, .least = 1, .most = kLargest});
  };
  whole(&PositionSetup::layers, "layers", "Blocks");
  whole(&PositionSetup::d_model, "d_model", "Width");
  whole(&PositionSetup::heads, "heads", "Heads of a block");
  whole(&PositionSetup::steps, "steps", "Steps of training");
  whole(&PositionSetup::batch, "batch", "Examples of a step");
  of_setup.add(
      &PositionSetup::learning_rate,
      {.name = "learning_rate", .form = "X", .meaning = "The highest; half a cosine down to 0", .group = group});
  of_setup.tell_bounds({{"learning_rate", 0, kAnyNumber}});
  fields.add(&PositionsArguments::setup, of_setup);
}

Fields<PositionsArguments> fields_of_positions() {
  Fields<PositionsArguments> fields;
  add_question(fields);
  add_training(fields);
  fields.add(&PositionsArguments::threads, threads_field());
  fields.add(&PositionsArguments::json, json_field());
  fields.add(&PositionsArguments::plot,
             {.name = "plot", .meaning = "Draw the chart in the terminal, too", .excludes = {"json"}});
  fields.add(&PositionsArguments::pictures, picture_fields());
  fields.give_examples({{"task", "copy"}, {"test_lengths", "8,12"}});
  return fields;
}

}  // namespace

void add_bench_positions(Commands& commands) {
  commands.add({.name = "bench positions",
                .summary = "Train decoders on short examples and test them on longer ones, for each kind of positions",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench positions --plot --png positions.png\n"
                          "  qkv bench positions --task copy --kinds learned,rotary --test-lengths 8,12,16"},
               fields_of_positions(), run_bench_positions);
}

}  // namespace qkv::cli
