// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "allocations.h"
#include "commands.h"
#include "common_options.h"
#include "file_places.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/saying.h"
#include "qkv/api/study.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/train/task.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchVariants = "qkv bench variants";
constexpr const char* kBenchPositions = "qkv bench positions";
constexpr const char* kBenchBottleneck = "qkv bench bottleneck";

// Behind Ctrl-C; `any` says whether something was measured until then.
void end_if_interrupted(std::string_view command, bool any) {
  if (!InterruptWatch::interrupted()) return;
  flush_output();
  complain(command, any ? "stopped; this is what was measured until then" : "stopped; nothing was measured");
  throw Exit{kInterrupted};
}

// Kinds of attention over the same inputs.
struct VariantsFlags : VariantsBench {
  PictureFolders into;
  bool plot = false;
  bool json = false;
};

void show(const VariantsFlags& flags, const VariantSetup& setup, const std::vector<VariantCost>& costs) {
  write_files(drawn(flags.into, variants_drawings(setup, costs)));
  if (flags.json) return print(reply_as_json(variants_figures(setup, costs)));
  print_text(variants_table(setup, costs));
  if (!flags.plot) return;
  for (const VariantChart& chart : variants_charts(setup, costs)) {
    print("\n" + to_terminal(chart.chart, terminal_options("auto", std::nullopt)));
  }
}

// As far as Ctrl-C lets it.
std::vector<VariantCost> measured(const VariantSetup& setup) {
  std::vector<VariantCost> costs;
  Progress progress;
  const VariantWatch watch = {
      .about_to = [&](const std::string& what) { progress.show(fmt::format("{}: {}", kBenchVariants, what)); },
      .stopped = [] { return InterruptWatch::interrupted(); },
      .peak_bytes =
          [](const std::function<void()>& run) {
            const PeakMeter meter;
            run();
            return meter.bytes();
          }};
  for (const std::int64_t tokens : setup.lengths()) {
    const auto of_length = run_variants(setup, tokens, watch);
    costs.insert(costs.end(), of_length.begin(), of_length.end());
    if (watch.stopped()) break;
    if (tokens < setup.to) progress.note(fmt::format("{}: T = {} is measured", kBenchVariants, tokens));
  }
  return costs;
}

void run_bench(VariantsFlags& flags, const Given& /*all*/) {
  const VariantSetup setup = variant_setup(flags);
  prepare(flags.into, {"time", "memory", "error"});
  const InterruptWatch interrupts;
  const std::vector<VariantCost> costs = measured(setup);
  const bool any = std::ranges::any_of(costs, [](const VariantCost& cost) { return cost.skipped.empty(); });
  if (any) show(flags, setup, costs);
  end_if_interrupted(kBenchVariants, any);
}

Fields<VariantsFlags> fields_of_variants() {
  using F = VariantsFlags;
  Fields<F> fields;
  fields.add(variants_bench_fields());
  fields.add(&F::json, json_field());
  fields.add(&F::plot, {.name = "plot",
                        .meaning = "Draw the charts in the terminal, too",
                        .excludes = {"json"},
                        .reasons = {{"json", kOneThing}}});
  Fields<PictureFolders> into =
      picture_folder_fields("Write time.svg, memory.svg and error.svg into it", "The same as PNG");
  into.add(&PictureFolders::pdf, {.name = "pdf", .form = "DIR", .meaning = "The same as PDF", .example = "pictures"});
  fields.add(&F::into, into);
  return fields;
}

// Train short, test long.
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
  end_if_interrupted(kBenchPositions, !results.empty());
}

Fields<PositionsArguments> fields_of_positions() {
  Fields<PositionsArguments> fields;
  fields.add(positions_bench_fields());
  fields.add(threads_flag());
  fields.add(&PositionsArguments::json, json_field());
  fields.add(&PositionsArguments::plot, {.name = "plot",
                                         .meaning = "Draw the chart in the terminal, too",
                                         .excludes = {"json"},
                                         .reasons = {{"json", kOneThing}}});
  fields.add(&PositionsArguments::pictures, picture_fields());
  return fields;
}

// What one vector of fixed size holds of a text, against attention.
struct BottleneckFlags : BottleneckBench, ThreadsFlag {
  bool json = false;
};

BottleneckFound found_by(const BottleneckFlags& flags) {
  constexpr std::int64_t kReportEvery = 500;
  std::optional<InterruptWatch> interrupts;  // only training leaves something unwritten
  if (!flags.out.empty()) interrupts.emplace();
  Progress progress;
  const auto step = [&](const std::string& model, std::int64_t done, double loss) {
    const std::string said = fmt::format("{}: {}: step {} of {}, loss {:.4f}", kBenchBottleneck, model, done + 1,
                                         flags.training.steps, loss);
    progress.show(said);
    if ((done + 1) % kReportEvery == 0) progress.note(said);
  };
  return found_bottleneck(flags, {.step = step, .stopped = [] { return InterruptWatch::interrupted(); }});
}

void run_bench_bottleneck(BottleneckFlags& flags, const Given& /*all*/) {
  try {
    const BottleneckFound found = found_by(flags);
    flags.json ? print(reply_as_json(found.figures)) : print_text(bottleneck_table(found.models, found.points));
  } catch (const Cancelled&) {
    complain(kBenchBottleneck, "stopped; nothing was written");
    throw Exit{kInterrupted};
  }
}

Fields<BottleneckFlags> fields_of_bottleneck() {
  Fields<BottleneckFlags> fields;
  fields.add(bottleneck_bench_fields());
  fields.add(threads_flag());
  fields.add(&BottleneckFlags::json, json_field());
  return fields;
}

}  // namespace

void add_bench(Commands& commands) {
  commands.add_family({.name = "bench",
                       .summary = "Measure on this machine",
                       .group = "Measure",
                       .footer = "Examples:\n  qkv bench variants --tokens 256:4096 --causal --plot\n"
                                 "  qkv bench positions --plot"});
  commands.add({.name = "bench variants",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench variants --tokens 256:16384 --causal --png charts\n"
                          "  qkv bench variants --tokens 2048 --mask \"window(64) | strided(64)\""},
               fields_of_variants(), run_bench);
  commands.add({.name = "bench positions",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench positions --plot --png positions.png\n"
                          "  qkv bench positions --task copy --kinds learned,rotary --test-lengths 8,12,16"},
               fields_of_positions(), run_bench_positions);
  commands.add({.name = "bench bottleneck",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench bottleneck\n"
                          "  qkv bench bottleneck --out bottleneck --steps 12000"},
               fields_of_bottleneck(), run_bench_bottleneck);
}

}  // namespace qkv::cli
