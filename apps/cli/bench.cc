// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "allocations.h"
#include "commands.h"
#include "common_options.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/files.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchVariants = "qkv bench variants";

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
  if (!InterruptWatch::interrupted()) return;
  flush_output();
  complain(kBenchVariants, any ? "stopped; this is what was measured until then" : "stopped; nothing was measured");
  throw Exit{kInterrupted};
}

Fields<VariantsFlags> fields_of_variants() {
  using F = VariantsFlags;
  Fields<F> fields;
  fields.add(variants_bench_fields());
  fields.add(&F::json, json_field());
  fields.add(&F::plot, {.name = "plot", .meaning = "Draw the charts in the terminal, too", .excludes = {"json"}});
  Fields<PictureFolders> into =
      picture_folder_fields("Write time.svg, memory.svg and error.svg into it", "The same as PNG");
  into.add(&PictureFolders::pdf, {.name = "pdf", .form = "DIR", .meaning = "The same as PDF", .example = "pictures"});
  fields.add(&F::into, into);
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
                .summary = "Time, memory and error of exact, standard, linear, windowed, strided and block-sparse "
                           "attention",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench variants --tokens 256:16384 --causal --png charts\n"
                          "  qkv bench variants --tokens 2048 --mask \"window(64) | strided(64)\""},
               fields_of_variants(), run_bench);
  add_bench_positions(commands);
  add_bench_bottleneck(commands);
}

}  // namespace qkv::cli
