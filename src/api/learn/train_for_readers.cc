#include "api/learn/train_for_readers.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/fields/refuse.h"
#include "files/reading.h"

namespace qkv {
namespace {

// What a step holds of the examples, times the bytes of some thirty vectors of each token in each block.
void require_small_steps(const TrainSettings& settings) {
  constexpr std::int64_t kMost = std::int64_t{1} << 25U;
  const auto length = make_task(settings.task, {.length = settings.length})->info().length;
  const std::int64_t tokens = settings.length.value_or(length ? length->usual : 1);
  const std::int64_t width = std::max(settings.d_model, settings.d_ff.value_or(0) / 4);
  const std::int64_t of_example = tokens * width * settings.layers;
  if (settings.batch * of_example <= kMost) return;
  api_detail::refuse(
      "batch", fmt::format("at most {} in a studio, for this `length`, `d_model` and `layers`", kMost / of_example),
      std::to_string(settings.batch));
}

// Models that are kept take room, and checkpoints time. A run that goes on has what it began with.
void require_few_files(const PlannedRun& run, const Given& given) {
  const auto few = [&](std::string_view field, std::int64_t every, std::int64_t most) {
    if (run.start == TrainStart::resumed && !given.has(field)) return;
    const std::int64_t least = run.settings.steps / (most + 1) + 1;
    if (every == 0 || every >= least) return;
    api_detail::refuse(field, fmt::format("at least {} in a studio, for {} steps", least, run.settings.steps),
                       std::to_string(every));
  };
  few("keep_every", run.reporting.keep_every, 64);
  few("save_every", run.reporting.save_every, 512);
}

void require_small(const PlannedRun& run) {
  const TrainSettings& settings = run.settings;
  const auto at_most = [](std::string_view field, std::int64_t value, std::int64_t most) {
    if (value > most) api_detail::refuse(field, fmt::format("at most {} in a studio", most), std::to_string(value));
  };
  at_most("steps", settings.steps, 100'000);
  at_most("batch", settings.batch, 1024);
  at_most("accumulation", settings.accumulation, 64);
  at_most("layers", settings.layers, 16);
  at_most("d_model", settings.d_model, 512);
  at_most("heads", settings.heads, 64);
  at_most("d_ff", settings.d_ff.value_or(1), 2048);
  at_most("length", settings.length.value_or(1), 512);
  at_most("examples", run.reporting.examples, 4096);
  require_small_steps(settings);
}

}  // namespace

void api_detail::require_run_for_readers(const TrainRun& run, const Given& given) {
  const std::string& task = run.settings.task;
  if (takes_data(task) || task == "tokenizer") {
    api_detail::refuse("task", "one that makes its own examples: `qkv train` learns from files", task);
  }
  require_trained(task);
  if (!run.out.empty()) api_detail::refuse("out", "none: a studio's runs lie where it was started", run.out);
  files::require_in_reach("qkv-" + task);
  const PlannedRun planned = planned_run(run, given);
  if (planned.start == TrainStart::anew) require_small(planned);
  require_few_files(planned, given);
}

}  // namespace qkv
