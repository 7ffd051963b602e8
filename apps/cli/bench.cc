// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <optional>

#include "allocations.h"
#include "commands.h"
#include "interrupts.h"
#include "qkv/api/study.h"

namespace qkv::cli {
namespace {

// Behind Ctrl-C; `any` says whether something was measured until then.
void end_if_interrupted(bool any) {
  if (!InterruptWatch::interrupted()) return;
  throw Exit{kInterrupted, any ? "stopped; this is what was measured until then" : "stopped; nothing was measured"};
}

void plot(const Manner& how, const Chart& chart) {
  if (how.plot) print("\n" + to_terminal(chart, how.terminal()));
}

// Kinds of attention over the same inputs, as far as Ctrl-C lets it.
std::vector<VariantCost> measured(const Manner& how, const VariantSetup& setup) {
  Progress progress;
  const std::string name = how.command->full_name();
  return run_variants(setup,
                      {.about_to = [&](const std::string& what) { progress.show(fmt::format("{}: {}", name, what)); },
                       .measured =
                           [&](std::int64_t tokens) {
                             if (tokens < setup.to) progress.note(fmt::format("{}: T = {} is measured", name, tokens));
                           },
                       .stopped = [] { return InterruptWatch::interrupted(); },
                       .peak_bytes =
                           [](const std::function<void()>& run) {
                             const PeakMeter meter;
                             run();
                             return meter.bytes();
                           }});
}

void run_bench_variants(const Asked<VariantsBench>& asked, const Given& /*all*/) {
  const VariantSetup setup = variant_setup(asked);
  make_folders(asked.how.pictures, {"time", "memory", "error"});
  const InterruptWatch interrupts;
  const std::vector<VariantCost> costs = measured(asked.how, setup);
  if (!costs.empty()) {
    write_files(drawn(asked.how.pictures, variants_drawings(setup, costs)));
    asked.how.tell(variants_figures(setup, costs), [&] { return variants_table(setup, costs); });
    for (const VariantChart& chart : variants_charts(setup, costs)) plot(asked.how, chart.chart);
  }
  end_if_interrupted(!costs.empty());
}

Fields<Asked<VariantsBench>> fields_of_variants() {
  auto fields = asked(variants_bench_fields(), {"json", "plot", "folders"});
  fields.info("plot").meaning = "Draw the charts in the terminal, too";
  fields.info("svg").meaning = "Write time.svg, memory.svg and error.svg into it";
  return fields;
}

// Train short, test long.
std::vector<PositionResult> measured(const Manner& how, const PositionSetup& setup) {
  Progress progress;
  const PositionWatch watch = {
      .doing = [&](const std::string& what) { progress.show(fmt::format("{}: {}", how.command->full_name(), what)); },
      .stopped = [] { return InterruptWatch::interrupted(); },
      .done =
          [&](const PositionResult& result) {
            progress.note(fmt::format("{}: {} is done, after {}", how.command->full_name(), name_of(result.kind),
                                      duration_text(result.seconds)));
          }};
  return found_positions(setup, watch);
}

void run_bench_positions(const Asked<PositionsBench>& asked, const Given& /*all*/) {
  const PositionSetup setup = position_setup(asked);
  const InterruptWatch interrupts;
  const std::vector<PositionResult> results = measured(asked.how, setup);
  if (!results.empty()) {
    const Chart chart = positions_chart(setup, results);
    write_pictures(asked.how.pictures, chart);
    asked.how.tell(positions_figures(setup, results), [&] { return positions_table(setup, results); });
    plot(asked.how, chart);
  }
  end_if_interrupted(!results.empty());
}

// What one vector of fixed size holds of a text, against attention.
void run_bench_bottleneck(const Asked<BottleneckBench>& asked, const Given& /*all*/) {
  constexpr std::int64_t kReportEvery = 500;
  std::optional<InterruptWatch> interrupts;  // only training leaves something unwritten
  if (!asked.out.empty()) interrupts.emplace();
  Progress progress;
  const auto step = [&](const std::string& model, std::int64_t done, double loss) {
    const std::string said = fmt::format("{}: {}: step {} of {}, loss {:.4f}", asked.how.command->full_name(), model,
                                         done + 1, asked.training.steps, loss);
    progress.show(said);
    if ((done + 1) % kReportEvery == 0) progress.note(said);
  };
  const BottleneckFound found =
      found_bottleneck(asked, {.step = step, .stopped = [] { return InterruptWatch::interrupted(); }});
  asked.how.tell(found.figures, [&] { return bottleneck_table(found.models, found.points); });
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
               fields_of_variants(), run_bench_variants);
  commands.add({.name = "bench positions",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench positions --plot --png positions.png\n"
                          "  qkv bench positions --task copy --kinds learned,rotary --test-lengths 8,12,16"},
               asked(positions_bench_fields(), {"json", "plot", "pictures", "threads"}), run_bench_positions);
  commands.add({.name = "bench bottleneck",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench bottleneck\n"
                          "  qkv bench bottleneck --out bottleneck --steps 12000"},
               asked(bottleneck_bench_fields(), {"json", "threads"}), run_bench_bottleneck);
}

}  // namespace qkv::cli
