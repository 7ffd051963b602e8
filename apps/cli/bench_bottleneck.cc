// qkv bench bottleneck: what one vector of fixed size holds of a text, against attention.
#include "bench_bottleneck.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "progress.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/study/bottleneck.h"
#include "qkv/threads.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchBottleneck = "qkv bench bottleneck";
constexpr std::int64_t kMostRuns = std::int64_t{1} << 20;
constexpr std::int64_t kReportEvery = 500;

struct BottleneckArguments {
  BottleneckSetup setup;
  std::string out;  // empty: those of the box are measured
  std::int64_t to = 32;
  std::int64_t texts = 256;
  std::string seed = "1";
  std::optional<int> threads;
  bool json = false;
};

std::string card_in(const std::string& directory) { return directory + "/card.json"; }

[[noreturn]] void stop() {
  flush_output();
  complain(kBenchBottleneck, "stopped; nothing was written");
  throw Exit{kInterrupted};
}

BottleneckModels trained(const BottleneckArguments& arguments) {
  const BottleneckModels models = make_bottleneck_models(arguments.setup);
  const InterruptWatch interrupts;
  Progress progress;
  const auto step = [&](const std::string& model, std::int64_t done, double loss) {
    const std::string said = fmt::format("{}: {}: step {} of {}, loss {:.4f}", kBenchBottleneck, model, done + 1,
                                         arguments.setup.steps, loss);
    progress.show(said);
    if ((done + 1) % kReportEvery == 0) progress.note(said);
  };
  try {
    train_bottleneck(models, arguments.setup, {.step = step, .stopped = [] { return InterruptWatch::interrupted(); }});
  } catch (const Cancelled&) {
    stop();
  }
  if (InterruptWatch::interrupted()) stop();
  return models;
}

// Before minutes of training.
void require_sound(const BottleneckArguments& arguments) {
  const double rate = arguments.setup.learning_rate;
  if (!std::isfinite(rate) || rate <= 0) misuse("--learning-rate", "a finite number above 0", fmt::format("{}", rate));
  if (arguments.out.empty()) return;
  std::filesystem::create_directories(arguments.out);
  qkv::require_writable(card_in(arguments.out));
}

void run(BottleneckArguments& arguments) {
  arguments.setup.seed = seed_of(arguments.seed);
  require_sound(arguments);
  if (arguments.threads) set_threads(*arguments.threads);
  const BottleneckModels models = arguments.out.empty() ? bottleneck_models_of_the_box() : trained(arguments);
  std::vector<BottleneckPoint> points;
  for (std::int64_t length = 1; length <= arguments.to; ++length) {
    points.push_back(
        {.vector = measure_bottleneck(models.vector, length, arguments.texts, arguments.setup.seed),
         .attention = measure_bottleneck(models.attention, length, arguments.texts, arguments.setup.seed)});
  }
  const std::string json = bottleneck_json(models, arguments.setup, points);
  if (!arguments.out.empty()) {
    write_bottleneck_models(models, arguments.setup, arguments.out);
    write_file(card_in(arguments.out), json);
  }
  arguments.json ? print(json) : print_text(bottleneck_table(models, points));
}

}  // namespace

void add_bench_bottleneck(CLI::App& family) {
  CLI::App* command = family.add_subcommand(
      "bottleneck", "Repeat random letters: through one vector, and with attention over all states");
  command->footer(
      "Examples:\n  qkv bench bottleneck\n"
      "  qkv bench bottleneck --out bottleneck --steps 12000");
  const auto arguments = std::make_shared<BottleneckArguments>();
  CLI::Option* out =
      command->add_option("--out", arguments->out, "Train both models and write them there [measure those of the box]")
          ->type_name("DIR");
  const auto whole = [&](const char* option, std::int64_t& value, const char* what) {
    return command->add_option(option, value, what)
        ->type_name("N")
        ->check(between(1, kMostRuns))
        ->capture_default_str();
  };
  whole("--to", arguments->to, "Letters of the longest texts that are measured");
  whole("--texts", arguments->texts, "Random texts of each length");
  whole("--steps", arguments->setup.steps, "Steps of training")->needs(out);
  whole("--batch", arguments->setup.batch, "Texts of a step")->needs(out);
  whole("--longest", arguments->setup.longest, "Letters of the longest texts in training")->needs(out);
  command->add_option("--learning-rate", arguments->setup.learning_rate, "The highest; half a cosine down to 0")
      ->type_name("X")
      ->check(a_number())
      ->capture_default_str()
      ->needs(out);
  add_seed_option(*command, arguments->seed, "Of the models and the texts")->capture_default_str();
  add_threads_option(*command, arguments->threads);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace qkv::cli
