// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "allocations.h"
#include "bench_bottleneck.h"
#include "bench_positions.h"
#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/files.h"
#include "qkv/number_text.h"
#include "qkv/study/variants.h"
#include "qkv/threads.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchVariants = "qkv bench variants";

struct BenchOptions {
  VariantSetup setup;
  std::optional<int> threads;
  std::string seed = "1";
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
  if (options.json) return print(variants_json(options.setup, costs));
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

void run(BenchOptions& options) {
  read_tokens(options.tokens, options.setup);
  options.setup.data = options.data == "local" ? InputData::local : InputData::random;
  options.setup.threads = options.threads ? *options.threads : threads();
  options.setup.seed = seed_of(options.seed);
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

void add_problem_options(CLI::App& command, BenchOptions& options) {
  VariantSetup& setup = options.setup;
  const auto extent = between(1, kMostExtent);
  command.add_option("--tokens", options.tokens, "Lengths: one, or from one by doubling to another")
      ->type_name("T|FROM:TO")
      ->capture_default_str();
  command.add_option("--heads", setup.heads, "Heads")->type_name("N")->check(extent)->capture_default_str();
  command.add_option("--head-dim", setup.head_dim, "Width of a head")
      ->type_name("N")
      ->check(extent)
      ->capture_default_str();
  command.add_flag("--causal", setup.causal, "Each token sees itself and earlier ones alone");
  command.add_option("--data", options.data, "random, or local: neighbouring tokens are alike")
      ->type_name("KIND")
      ->check(one_of({"random", "local"}))
      ->capture_default_str();
  add_seed_option(command, options.seed, "Of the inputs and of the random blocks")->capture_default_str();
}

void add_pattern_options(CLI::App& command, VariantSetup& setup) {
  const std::string group = "The patterns";
  const auto extent = between(1, kMostExtent);
  command.add_option("--window", setup.window, "Keys to either side, itself included")
      ->type_name("N")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--stride", setup.stride, "Keep every Nth key")
      ->type_name("N")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--block", setup.block, "Side of the block-sparse pattern's blocks")
      ->type_name("N")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--mask", setup.masks, "One more pattern, in the mask language; may be given again")
      ->type_name("EXPR")
      ->group(group);
}

void add_run_options(CLI::App& command, BenchOptions& options) {
  VariantSetup& setup = options.setup;
  add_threads_option(command, options.threads);
  command.add_option("--repeats", setup.repeats, "Timed runs; fewer where they take more than 2 s")
      ->type_name("N")
      ->check(between(1, kMostRepeats))
      ->capture_default_str();
  add_memory_limit_option(command, setup.memory_limit, "Bytes that a T x T matrix may take");
  command.add_flag("--json", options.json, "Print JSON");
  command.add_flag("--plot", options.plot, "Draw the charts in the terminal, too")
      ->excludes(command.get_option("--json"));
  command.add_option("--svg", options.into.svg, "Write time.svg, memory.svg and error.svg into it")->type_name("DIR");
  command.add_option("--png", options.into.png, "The same as PNG")->type_name("DIR");
  command.add_option("--pdf", options.into.pdf, "The same as PDF")->type_name("DIR");
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* family = app.add_subcommand("bench", "Measure on this machine")->group("Learn");
  family->require_subcommand(1);
  family->footer("Examples:\n  qkv bench variants --tokens 256:4096 --causal --plot\n  qkv bench positions --plot");
  CLI::App* command = family->add_subcommand(
      "variants", "Time, memory and error of exact, standard, linear, windowed, strided and block-sparse attention");
  command->footer(
      "Examples:\n  qkv bench variants --tokens 256:16384 --causal --png charts\n"
      "  qkv bench variants --tokens 2048 --mask \"window(64) | strided(64)\"");
  const auto options = std::make_shared<BenchOptions>();
  add_problem_options(*command, *options);
  add_pattern_options(*command, options->setup);
  add_run_options(*command, *options);
  command->callback([options] { run(*options); });
  add_bench_positions(*family);
  add_bench_bottleneck(*family);
}

}  // namespace qkv::cli
