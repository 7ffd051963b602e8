// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "allocations.h"
#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/files.h"
#include "qkv/number_text.h"
#include "qkv/threads.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchVariants = "qkv bench variants";

struct BenchOptions {
  VariantSetup setup;
  std::optional<int> threads;
  std::string tokens = "256:4096";
  std::string data = "random";
  PicturePaths into;  // directories
  bool plot = false;
  bool json = false;
};

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 20;
constexpr std::int64_t kMostRepeats = 1000;

std::int64_t whole_number(std::string_view text, const std::string& all) {
  const auto value = number_from<std::int64_t>(text);
  if (value && *value >= 1 && *value <= kMostTokens) return *value;
  misuse("--tokens", fmt::format("T or FROM:TO, from 1 to {}", kMostTokens), "\"" + all + "\"");
}

// "256:4096", or one length.
void read_tokens(const std::string& text, VariantSetup& setup) {
  const std::size_t colon = text.find(':');
  setup.from = whole_number(std::string_view(text).substr(0, colon), text);
  setup.to = colon == std::string::npos ? setup.from : whole_number(std::string_view(text).substr(colon + 1), text);
  if (setup.from > setup.to) misuse("--tokens", "FROM no larger than TO", "\"" + text + "\"");
}

// Before minutes of measuring: a mask that has no meaning, or that cannot stand over one of the lengths.
void require_masks(const VariantSetup& setup) {
  for (const std::string& text : setup.masks) {
    const Mask mask = parse_mask(text);
    for (const std::int64_t T : setup.lengths()) mask.validate({.B = 1, .H = setup.heads, .Tq = T, .Tk = T});
  }
}

PicturePaths chart_paths(const PicturePaths& into, std::string_view chart) {
  const auto place = [&](const std::string& directory, const char* ending) {
    return directory.empty() ? "" : (std::filesystem::path(directory) / fmt::format("{}.{}", chart, ending)).string();
  };
  return {.png = place(into.png, "png"), .svg = place(into.svg, "svg"), .pdf = place(into.pdf, "pdf")};
}

// Before minutes of measuring: makes the directories of the charts, which must be writable.
void prepare_charts(const PicturePaths& into) {
  for (const std::string& directory : {into.png, into.svg, into.pdf}) {
    if (directory.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw Error(fmt::format("cannot make the directory {}: {}", directory, error.message()));
  }
  for (const char* chart : {"time", "memory", "error"}) require_writable(chart_paths(into, chart));
}

void show(const BenchOptions& options, const std::vector<VariantCost>& costs) {
  const std::vector<VariantChart> charts = variants_charts(options.setup, costs);
  for (const auto& [name, chart] : charts) write_pictures(chart_paths(options.into, name), chart);
  if (options.json) return print(reply_as_json(variants_figures(options.setup, costs)));
  print_text(variants_table(options.setup, costs));
  if (!options.plot) return;
  for (const VariantChart& chart : charts) {
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

void run_bench(BenchOptions& options, const Given& /*all*/) {
  read_tokens(options.tokens, options.setup);
  options.setup.data = options.data == "local" ? InputData::local : InputData::random;
  options.setup.threads = options.threads ? *options.threads : threads();
  require_masks(options.setup);
  prepare_charts(options.into);
  const InterruptWatch interrupts;
  const std::vector<VariantCost> costs = measured(options.setup);
  const bool any = std::ranges::any_of(costs, [](const VariantCost& cost) { return cost.skipped.empty(); });
  if (any) show(options, costs);
  if (!InterruptWatch::interrupted()) return;
  flush_output();
  complain(kBenchVariants, any ? "stopped; this is what was measured until then" : "stopped; nothing was measured");
  throw Exit{kInterrupted};
}

void add_problem(Fields<BenchOptions>& fields) {
  Fields<VariantSetup> of_setup;
  const auto extent = [&](std::int64_t VariantSetup::* place, const char* name, const char* meaning) {
    of_setup.add(place, {.name = name, .form = "N", .meaning = meaning, .least = 1, .most = kMostExtent});
  };
  fields.add(&BenchOptions::tokens,
             {.name = "tokens", .form = "T|FROM:TO", .meaning = "Lengths: one, or from one by doubling to another"});
  extent(&VariantSetup::heads, "heads", "Heads");
  extent(&VariantSetup::head_dim, "head_dim", "Width of a head");
  of_setup.add(&VariantSetup::causal, {.name = "causal", .meaning = "Each token sees itself and earlier ones alone"});
  of_setup.add(&VariantSetup::seed, seed_field("Of the inputs and of the random blocks"));
  fields.add(&BenchOptions::setup, of_setup);
  fields.add(&BenchOptions::data, {.name = "data",
                                   .form = "KIND",
                                   .meaning = "random, or local: neighbouring tokens are alike",
                                   .words = {"random", "local"}});
}

void add_patterns(Fields<BenchOptions>& fields) {
  const std::string group = "The patterns";
  Fields<VariantSetup> of_setup;
  const auto extent = [&](std::int64_t VariantSetup::* place, const char* name, const char* meaning) {
    of_setup.add(place,
                 {.name = name, .form = "N", .meaning = meaning, .group = group, .least = 1, .most = kMostExtent});
  };
  extent(&VariantSetup::window, "window", "Keys to either side, itself included");
  extent(&VariantSetup::stride, "stride", "Keep every Nth key");
  extent(&VariantSetup::block, "block", "Side of the block-sparse pattern's blocks");
  of_setup.add(&VariantSetup::masks, {.name = "mask",
                                      .form = "EXPR",
                                      .meaning = "One more pattern, in the mask language; may be given again",
                                      .group = group});
  fields.add(&BenchOptions::setup, of_setup);
}

void add_run(Fields<BenchOptions>& fields) {
  Fields<VariantSetup> of_setup;
  of_setup.add(&VariantSetup::repeats, {.name = "repeats",
                                        .form = "N",
                                        .meaning = "Timed runs; fewer where they take more than 2 s",
                                        .least = 1,
                                        .most = kMostRepeats});
  of_setup.add(&VariantSetup::memory_limit, memory_limit_field("Bytes that a T x T matrix may take"));
  fields.add(&BenchOptions::threads, threads_field());
  fields.add(&BenchOptions::setup, of_setup);
  fields.add(&BenchOptions::json, json_field());
  fields.add(&BenchOptions::plot,
             {.name = "plot", .meaning = "Draw the charts in the terminal, too", .excludes = {"json"}});
  Fields<PicturePaths> into;
  into.add(&PicturePaths::svg,
           {.name = "svg", .form = "DIR", .meaning = "Write time.svg, memory.svg and error.svg into it"});
  into.add(&PicturePaths::png, {.name = "png", .form = "DIR", .meaning = "The same as PNG"});
  into.add(&PicturePaths::pdf, {.name = "pdf", .form = "DIR", .meaning = "The same as PDF"});
  fields.add(&BenchOptions::into, into);
}

Fields<BenchOptions> fields_of_bench() {
  Fields<BenchOptions> fields;
  add_problem(fields);
  add_patterns(fields);
  add_run(fields);
  fields.give_examples(
      {{"tokens", "256:512"}, {"mask", "window(64)"}, {"svg", "charts"}, {"png", "charts"}, {"pdf", "charts"}});
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
               fields_of_bench(), run_bench);
  add_bench_positions(commands);
  add_bench_bottleneck(commands);
}

}  // namespace qkv::cli
