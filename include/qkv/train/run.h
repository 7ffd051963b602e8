// One training run in a directory of its own: checkpoints, a log, and a report at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qkv/model/relation_scores.h"
#include "qkv/train/examine.h"
#include "qkv/train/settings.h"
#include "qkv/train/training.h"

namespace qkv {

/// Where a run writes: checkpoint.safetensors, log.jsonl, models of earlier steps where they are kept and, at the end,
/// model.safetensors.
struct TrainPlace {
  std::string directory;

  [[nodiscard]] std::string checkpoint() const { return directory + "/checkpoint.safetensors"; }
  [[nodiscard]] std::string log() const { return directory + "/log.jsonl"; }
  [[nodiscard]] std::string model() const { return directory + "/model.safetensors"; }
  /// "steps/00000200.safetensors", after so many steps.
  [[nodiscard]] std::string kept(std::int64_t step) const;
};

/// A line of log.jsonl: a step that is done. Steps count from 1.
struct LoggedStep {
  std::int64_t step = 0;
  double loss = 0;           // the mean of its batches', before the step
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  std::int64_t tokens = 0;
  double seconds = 0;                             // of the run until then
  std::optional<double> accuracy = std::nullopt;  // on held-out examples, where they were examined
  std::optional<double> held_out_loss = std::nullopt;
};
/// Those of the log in their order, without the half line that a kill may have left; none if there is no log.
[[nodiscard]] std::vector<LoggedStep> read_log(const TrainPlace& place);

/// Whether a process trains there now.
[[nodiscard]] bool is_at_work(const TrainPlace& place);

/// The steps of which a model is kept, in their order.
[[nodiscard]] std::vector<std::int64_t> kept_steps(const TrainPlace& place);

/// How a model of text goes on from a held-out beginning.
struct TextSample {
  std::string prompt;
  std::string text;
};

/// What came of a run that is done.
struct TrainReport {
  TrainSettings settings;
  ModelConfig model;
  std::int64_t parameters = 0;
  std::int64_t steps = 0;
  double seconds = 0;
  std::optional<LoggedStep> reached = std::nullopt;  // where the goal was first met
  std::int64_t examples = 0;                         // held out, of the last examination
  TaskAccuracy accuracy = {};
  std::optional<double> goal = std::nullopt;  // share of right answers; none of a task that has no goal
  std::int64_t pattern_examples = 0;
  std::vector<RelationScores> patterns = {};
  std::optional<TextSample> sample = std::nullopt;  // of "text"
};

enum class TrainStart : std::uint8_t { anew, resumed };

/// What a run tells, each where it is not empty.
struct TrainWatch {
  std::function<void(const LoggedStep&)> stepped;
  std::function<void(const std::string&)> doing;  // of what is no step, such as an examination
  std::function<bool()> stopped;                  // asked after each step; true saves and ends the run
};

/// Trains, with a checkpoint now and then. A resumed run is the uninterrupted one, bit for bit. nullopt if the watch
/// stopped it. Throws InvalidArgument as require_sound(), task_of() and model_of(); Diverged as train(), once the log
/// is whole; Error if the directory cannot be written or another process works in it, and for a checkpoint of another
/// model or of other examples.
[[nodiscard]] std::optional<TrainReport> run_training(const TrainSettings& settings, const TrainReporting& reporting,
                                                      const TrainPlace& place, TrainStart start,
                                                      const TrainWatch& watch = {});

/// What a run's checkpoint says of it.
struct SavedRun {
  TrainSettings settings;
  TrainReporting reporting;
  std::int64_t steps = 0;  // that are done
};
/// Throws Error naming the checkpoint and the word that is missing or has no meaning.
[[nodiscard]] SavedRun read_saved_run(const TrainPlace& place);

}  // namespace qkv
