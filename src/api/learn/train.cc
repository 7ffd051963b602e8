// Training for whoever has the address of a studio: small models, in the directory where it was started.
#include "qkv/api/train.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "files/reading.h"

namespace qkv {
namespace {

void require_small(const TrainRun& run) {
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
}

void require_run_here(const TrainRun& run) {
  const std::string& task = run.settings.task;
  if (takes_data(task) || task == "tokenizer") {
    api_detail::refuse("task", "one that makes its own examples: `qkv train` learns from files", task);
  }
  static_cast<void>(make_task(task));
  if (!run.out.empty()) api_detail::refuse("out", "none: a studio's runs lie where it was started", run.out);
  const TrainPlace place{.directory = "qkv-" + task};
  files::require_in_reach(place.directory);
  if (!run.resume && std::filesystem::exists(place.checkpoint())) {
    api_detail::refuse("resume", "true, to go on with the run in " + place.directory, "false");
  }
  require_small(run);
}

}  // namespace

api_detail::Answerer api_detail::train_question() {
  return answerer<TrainReply>(
      "train",
      "A model learns a task in the directory qkv-TASK, where a run that was stopped may go on; learn shows it.",
      train_run_fields(), {}, require_run_here);
}

}  // namespace qkv
