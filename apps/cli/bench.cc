// qkv bench: measurements that anybody can repeat on their own machine.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "commands.h"
#include "misuse.h"
#include "output.h"
#include "progress.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "terminal.h"
#include "variants.h"
#include "variants_report.h"

namespace qkv::cli {
namespace {

struct BenchOptions {
  VariantSetup setup;
  std::string tokens = "256:4096";
  std::string data = "random";
  std::string svg;
  std::string png;
  std::string pdf;
  bool plot = false;
  bool json = false;
};

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;

std::int64_t whole_number(std::string_view text, const std::string& all) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMostTokens) return value;
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
  of_option("--mask", [&] {
    for (const std::string& text : setup.masks) {
      const Mask mask = parse_mask(text);
      for (const std::int64_t T : setup.lengths()) mask.validate({.B = 1, .H = setup.heads, .Tq = T, .Tk = T});
    }
  });
}

void write_charts(const std::string& directory, std::string_view ending, const std::vector<NamedChart>& charts,
                  const std::function<std::string(const Chart&)>& draw) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(fmt::format("cannot make the directory {}: {}", directory, error.message()));
  for (const auto& [name, chart] : charts) {
    write_file((std::filesystem::path(directory) / fmt::format("{}.{}", name, ending)).string(), draw(chart));
  }
}

void show(const BenchOptions& options, const std::vector<VariantCost>& costs) {
  const std::vector<NamedChart> charts = variants_charts(options.setup, costs);
  write_charts(options.svg, "svg", charts, [](const Chart& chart) { return to_svg(chart); });
  write_charts(options.png, "png", charts, [](const Chart& chart) { return to_png(chart); });
  write_charts(options.pdf, "pdf", charts, [](const Chart& chart) { return to_pdf(chart); });
  if (options.json) return print(variants_json(options.setup, costs));
  print(variants_table(options.setup, costs));
  if (!options.plot) return;
  for (const NamedChart& chart : charts) {
    print("\n" + to_terminal(chart.chart, terminal_options("auto", std::nullopt)));
  }
}

void run(BenchOptions& options) {
  read_tokens(options.tokens, options.setup);
  options.setup.data = options.data == "local" ? InputData::local : InputData::random;
  require_masks(options.setup);
  std::vector<VariantCost> costs;
  {
    Progress progress;
    for (const std::int64_t tokens : options.setup.lengths()) {
      const auto of_length =
          run_variants(options.setup, tokens, [&](const std::string& what) { progress.show("qkv bench: " + what); });
      costs.insert(costs.end(), of_length.begin(), of_length.end());
    }
  }
  show(options, costs);
}

void add_problem_options(CLI::App& command, BenchOptions& options) {
  VariantSetup& setup = options.setup;
  const auto extent = CLI::Range(std::int64_t{1}, std::int64_t{1} << 20);
  command.add_option("--tokens", options.tokens, "Lengths: T, or FROM:TO by doubling")->capture_default_str();
  command.add_option("--heads", setup.heads, "Heads")->check(extent)->capture_default_str();
  command.add_option("--head-dim", setup.head_dim, "Width of a head")->check(extent)->capture_default_str();
  command.add_flag("--causal", setup.causal, "Each token sees itself and earlier ones alone");
  command.add_option("--data", options.data, "random, or local: neighbouring tokens are alike")
      ->check(CLI::IsMember({"random", "local"}))
      ->capture_default_str();
  command.add_option("--seed", setup.seed, "Of the inputs and of the random blocks")->capture_default_str();
}

void add_pattern_options(CLI::App& command, VariantSetup& setup) {
  const std::string group = "The patterns";
  const auto extent = CLI::Range(std::int64_t{1}, std::int64_t{1} << 20);
  command.add_option("--window", setup.window, "Keys to either side, itself included")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--stride", setup.stride, "Every how-manieth key")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--block", setup.block, "Side of the block-sparse pattern's blocks")
      ->check(extent)
      ->capture_default_str()
      ->group(group);
  command.add_option("--mask", setup.masks, "One more pattern, in the mask language; may be given again")
      ->type_name("EXPR")
      ->allow_extra_args(false)
      ->group(group);
}

void add_run_options(CLI::App& command, BenchOptions& options) {
  VariantSetup& setup = options.setup;
  command.add_option("--threads", setup.threads, "Threads")->check(CLI::Range(1, 1024))->capture_default_str();
  command.add_option("--repeats", setup.repeats, "Timed runs; fewer where they take more than 2 s")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--memory-limit", setup.memory_limit, "Bytes that a T x T matrix may take, e.g. 4GiB")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4GiB")
      ->type_name("SIZE");
  command.add_flag("--json", options.json, "Print JSON");
  command.add_flag("--plot", options.plot, "Draw the charts in the terminal, too")
      ->excludes(command.get_option("--json"));
  command.add_option("--svg", options.svg, "Write time.svg, memory.svg and error.svg into it")->type_name("DIR");
  command.add_option("--png", options.png, "The same as PNG")->type_name("DIR");
  command.add_option("--pdf", options.pdf, "The same as PDF")->type_name("DIR");
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* family = app.add_subcommand("bench", "Measure on this machine")->group("Learn");
  family->require_subcommand(1);
  family->footer("Example:\n  qkv bench variants --tokens 256:4096 --causal --plot");
  CLI::App* command = family->add_subcommand(
      "variants", "Time, memory and error of exact, standard, linear, windowed, strided and block-sparse attention");
  command->footer(
      "Examples:\n  qkv bench variants --tokens 256:16384 --causal --png charts\n"
      "  qkv bench variants --tokens 2048 --data local --mask \"window(64) | strided(64)\"");
  const auto options = std::make_shared<BenchOptions>();
  options->setup.threads = threads();
  add_problem_options(*command, *options);
  add_pattern_options(*command, options->setup);
  add_run_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace qkv::cli
