// qkv bench positions: train short, test long.
#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/train/task.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchPositions = "qkv bench positions";
struct PositionsArguments : PositionsBench, ThreadsFlag {
  PicturePaths pictures;
  bool plot = false;
  bool json = false;
};

void show(const PositionsArguments& arguments, const PositionSetup& setup, const std::vector<PositionResult>& results) {
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
  const PositionSetup setup = position_setup(arguments);
  check_files({}, places_of(arguments.pictures));
  const InterruptWatch interrupts;
  const std::vector<PositionResult> results = measured(setup);
  if (!results.empty()) show(arguments, setup, results);
  if (!InterruptWatch::interrupted()) return;
  flush_output();
  complain(kBenchPositions,
           results.empty() ? "stopped; nothing was measured" : "stopped; this is what was measured until then");
  throw Exit{kInterrupted};
}

Fields<PositionsArguments> fields_of_positions() {
  Fields<PositionsArguments> fields;
  fields.add(positions_bench_fields());
  fields.add(threads_flag());
  fields.add(&PositionsArguments::json, json_field());
  fields.add(&PositionsArguments::plot,
             {.name = "plot", .meaning = "Draw the chart in the terminal, too", .excludes = {"json"}});
  fields.add(&PositionsArguments::pictures, picture_fields());
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
