// Training runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/picture/chart.h"
#include "qkv/text/train_tokenizer.h"
#include "qkv/train/run.h"
#include "qkv/train/settings.h"

namespace qkv {

/// Fills in the settings that were not given, from the task or from the model that training starts from. Throws as
/// with_starting_model().
[[nodiscard]] TrainSettings with_recipe(TrainSettings settings, const Given& given);

/// All settings of a run, and those of its reports. The meaning of a setting says if its default follows from the task.
[[nodiscard]] const Fields<TrainSettings>& train_settings_fields();
[[nodiscard]] const Fields<TrainReporting>& train_reporting_fields();

/// A run. The task "tokenizer" learns a tokenizer of `size` pieces and has no other settings.
struct TrainRun {
  TrainSettings settings;
  TrainReporting reporting;
  std::optional<std::int64_t> size;
  std::string out;      // default: qkv-TASK, or tokenizer.json
  bool resume = false;  // go on from the checkpoint in `out`
};

[[nodiscard]] const Fields<TrainRun>& train_run_fields();

/// Throws InvalidArgument naming `task`, with the nearest, unless it is a built-in task, text, pictures or
/// tokenizer.
void require_trained(const std::string& task);

/// Throws InvalidArgument naming `data` if the task needs some that are not there.
void require_data(const TrainSettings& settings);

struct TrainedStep {
  std::int64_t step = 0;
  double seconds = 0;
};

/// Of a head and a pattern; nullopt if no example has a row with the pattern.
struct TrainedScore {
  std::optional<double> weight, hit;
};

struct TrainedHead : TrainedScore {
  std::int64_t layer = 0, head = 0;
};

struct TrainedPattern {
  std::string relation, site;
  std::vector<std::vector<TrainedScore>> layers;  // of each its heads
  std::optional<TrainedHead> best;
};

struct TrainReply {
  std::string task;
  Named<std::string> model;
  std::int64_t parameters = 0, steps = 0, batch = 0;
  double learning_rate = 0, seconds = 0;
  std::optional<TrainedStep> reached_at;
  std::int64_t examples = 0, answers = 0;
  double accuracy = 0;
  std::optional<double> goal;
  double held_out_loss = 0;
  std::int64_t pattern_examples = 0;
  std::vector<TrainedPattern> patterns;
  std::vector<std::string> cautions;
};

[[nodiscard]] TrainReply train_reply(const TrainReport& report);
/// For people; `place` is where the run has written.
[[nodiscard]] std::string as_text(const TrainReport& report, const TrainPlace& place);

/// The loss of each step, of the training examples and of held-out ones where these were examined. Has no points for an
/// empty log.
[[nodiscard]] Chart loss_chart(const std::vector<LoggedStep>& log, std::string title);

/// What came of a TokenizerRun.
struct TrainTokenizerReply {
  std::int64_t pieces = 0, bytes = 0, tokens = 0;
  std::string out;
};

/// A run of the task "tokenizer".
struct TokenizerRun {
  std::string data;  // a text
  std::string out;
  TrainTokenizerOptions options;
};

/// Throws InvalidArgument naming data if there is none, and a field that a tokenizer has no use for.
[[nodiscard]] TokenizerRun tokenizer_run(const TrainRun& run);

/// Learns from a file of UTF-8 and writes the tokenizer. Throws Error for files that cannot be read or written.
[[nodiscard]] TrainTokenizerReply trained_tokenizer(const TokenizerRun& run);
/// For people.
[[nodiscard]] std::string as_text(const TrainTokenizerReply& reply, const TokenizerRun& run);

/// A run that is checked and can begin or go on.
struct PlannedRun {
  TrainSettings settings;
  TrainReporting reporting;
  TrainPlace place;
  TrainStart start = TrainStart::anew;
  std::int64_t done = 0;  // steps
};

/// With `resume` the settings come from the checkpoint: a task and data that are given must be its own, reports may be
/// others. Says the cautions of the model that training starts from. Throws InvalidArgument naming the field, as
/// with_recipe(), require_data() and require_sound() do, and `out` if it has a run already and `resume` is not given.
[[nodiscard]] PlannedRun planned_run(const TrainRun& run, const Given& given, const Saying& saying = {});

/// Trains, and draws the losses as loss.svg and loss.png. nullopt if the watch stopped it, with all saved. Throws as
/// run_training().
[[nodiscard]] std::optional<TrainReport> train_as_planned(const PlannedRun& run, const TrainWatch& watch = {});

/// TrainReply, or TrainTokenizerReply. Throws as planned_run() and train_as_planned(), and Cancelled, with all saved,
/// once nobody waits.
[[nodiscard]] AnyReply answer(const TrainRun& run, const Given& given, const Saying& saying = {});

[[nodiscard]] Members<TrainedStep> describe(const TrainedStep* step);
[[nodiscard]] Members<TrainedScore> describe(const TrainedScore* score);
[[nodiscard]] Members<TrainedHead> describe(const TrainedHead* head);
[[nodiscard]] Members<TrainedPattern> describe(const TrainedPattern* pattern);
[[nodiscard]] Members<TrainReply> describe(const TrainReply* reply);
[[nodiscard]] Members<TrainTokenizerReply> describe(const TrainTokenizerReply* reply);

}  // namespace qkv
