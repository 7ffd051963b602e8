// qkv bench bottleneck: what one vector of fixed size holds of a text, against attention.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "progress.h"
#include "qkv/api/study.h"
#include "qkv/cancel.h"
#include "qkv/files.h"
#include "qkv/threads.h"
#include "terminal.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr const char* kBenchBottleneck = "qkv bench bottleneck";
constexpr std::int64_t kMostRuns = std::int64_t{1} << 20;
constexpr std::int64_t kReportEvery = 500;

struct BottleneckArguments : BottleneckBench {
  BottleneckSetup training;
  std::string out;  // empty: those of the box are measured

  [[nodiscard]] BottleneckSetup setup() const {
    BottleneckSetup whole = training;
    whole.seed = seed;
    return whole;
  }
  std::optional<int> threads;
  bool json = false;
};

std::string card_in(const std::string& directory) { return directory + "/card.json"; }

[[noreturn]] void stop() {
  flush_output();
  complain(kBenchBottleneck, "stopped; nothing was written");
  throw Exit{kInterrupted};
}

BottleneckModels trained(const BottleneckSetup& setup) {
  const BottleneckModels models = make_bottleneck_models(setup);
  const InterruptWatch interrupts;
  Progress progress;
  const auto step = [&](const std::string& model, std::int64_t done, double loss) {
    const std::string said =
        fmt::format("{}: {}: step {} of {}, loss {:.4f}", kBenchBottleneck, model, done + 1, setup.steps, loss);
    progress.show(said);
    if ((done + 1) % kReportEvery == 0) progress.note(said);
  };
  try {
    train_bottleneck(models, setup, {.step = step, .stopped = [] { return InterruptWatch::interrupted(); }});
  } catch (const Cancelled&) {
    stop();
  }
  if (InterruptWatch::interrupted()) stop();
  return models;
}

// Before minutes of training.
void require_sound(const BottleneckArguments& arguments) {
  const double rate = arguments.training.learning_rate;
  if (!std::isfinite(rate) || rate <= 0) misuse("--learning-rate", "a finite number above 0", fmt::format("{}", rate));
  if (arguments.out.empty()) return;
  std::filesystem::create_directories(arguments.out);
  qkv::require_writable(card_in(arguments.out));
}

void run_bench_bottleneck(BottleneckArguments& arguments, const Given& /*all*/) {
  require_sound(arguments);
  if (arguments.threads) set_threads(*arguments.threads);
  const BottleneckSetup setup = arguments.setup();
  const BottleneckModels models = arguments.out.empty() ? bottleneck_models_of_the_box() : trained(setup);
  const std::vector<BottleneckPoint> points = bottleneck_points(models, arguments);
  const std::string json = reply_as_json(bottleneck_figures(models, setup, points));
  if (!arguments.out.empty()) {
    write_bottleneck_models(models, setup, arguments.out);
    write_file(card_in(arguments.out), json);
  }
  arguments.json ? print(json) : print_text(bottleneck_table(models, points));
}

Fields<BottleneckSetup> fields_of_training() {
  using S = BottleneckSetup;
  Fields<S> fields;
  const auto whole = [&](std::int64_t S::* place, const char* name, const char* meaning) {
    fields.add(place, {.name = name, .form = "N", .meaning = meaning, .least = 1, .most = kMostRuns, .needs = {"out"}});
  };
  whole(&S::steps, "steps", "Steps of training");
  whole(&S::batch, "batch", "Texts of a step");
  whole(&S::longest, "longest", "Letters of the longest texts in training");
  fields.add(
      &S::learning_rate,
      {.name = "learning_rate", .form = "X", .meaning = "The highest; half a cosine down to 0", .needs = {"out"}});
  fields.tell_bounds({{"learning_rate", 0, kAnyNumber}});
  return fields;
}

Fields<BottleneckArguments> fields_of_bottleneck() {
  using A = BottleneckArguments;
  Fields<A> fields;
  fields.add(
      &A::out,
      {.name = "out", .form = "DIR", .meaning = "Train both models and write them there [measure those of the box]"});
  fields.add(bottleneck_bench_fields());
  fields.add(&A::training, fields_of_training());
  fields.add(&A::threads, threads_field());
  fields.add(&A::json, json_field());
  fields.give_examples({{"out", "bottleneck"}});
  return fields;
}

}  // namespace

void add_bench_bottleneck(Commands& commands) {
  commands.add({.name = "bench bottleneck",
                .summary = "Repeat random letters: through one vector, and with attention over all states",
                .group = "Measure",
                .footer = "Examples:\n  qkv bench bottleneck\n"
                          "  qkv bench bottleneck --out bottleneck --steps 12000"},
               fields_of_bottleneck(), run_bench_bottleneck);
}

}  // namespace qkv::cli
