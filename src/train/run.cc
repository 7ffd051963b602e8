#include "qkv/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "core/dtype_named.h"
#include "core/number_text.h"
#include "core/watched.h"
#include "files/descriptor.h"
#include "qkv/train/checkpoint.h"
#include "qkv/train/trained_model.h"
#include "train/directory_lock.h"
#include "train/run_data.h"
#include "train/run_log.h"
#include "train/settings_words.h"

namespace qkv {
namespace {

using training::RunLog;

std::unique_ptr<Optimizer> optimizer_of(const TrainSettings& settings, Parameters parameters) {
  if (settings.optimizer == "sgd") {
    return make_sgd(std::move(parameters), {.momentum = settings.momentum, .weight_decay = settings.weight_decay});
  }
  return make_adamw(std::move(parameters), {.weight_decay = settings.weight_decay});
}

TrainingOptions options_of(const TrainSettings& settings) {
  return {.schedule = {.kind = schedule_named(settings.schedule),
                       .peak = settings.learning_rate,
                       .last = 0,
                       .warm_up = std::min(settings.warm_up, settings.steps),
                       .steps = settings.steps},
          .accumulation = settings.accumulation,
          .clip_norm = settings.clip};
}

// A run is never beyond its own end.
void require_steps(const Checkpoint& checkpoint, const TrainSettings& settings) {
  if (checkpoint.steps() <= settings.steps) return;
  throw Error(
      fmt::format("steps: expected at most {}, the steps of the run, got {}", settings.steps, checkpoint.steps()));
}

class Run {
 public:
  Run(const TrainSettings& settings, const TrainReporting& reporting, TrainPlace place, const TrainWatch& watch)
      : settings_(settings),
        reporting_(reporting),
        place_(std::move(place)),
        watch_(watch),
        task_(task_of(settings)),
        model_(model_of(settings, *task_)),
        optimizer_(optimizer_of(settings, model_.parameters())),
        words_(training::words_of(settings)) {
    words_["examples"] = training::fingerprint(*task_);
    describe_task(*task_, words_);
  }

  void resume() {
    const Checkpoint checkpoint = Checkpoint::read(place_.checkpoint());
    training::require_same_examples(checkpoint.run(), words_);
    checkpoint.restore(*optimizer_, model_.metadata());
    for (const auto& entry : std::filesystem::directory_iterator(place_.directory)) {
      // What a kill left of a checkpoint that was being written.
      if (entry.path().filename().string().starts_with(".qkv-partial-")) std::filesystem::remove(entry.path());
    }
  }

  std::optional<TrainReport> finish() {
    const RunLog log(place_, optimizer_->steps());
    for (const LoggedStep& step : read_log(place_)) {  // of what was done before this part of the run
      before_ = step.seconds;
      note_goal(step);
    }
    begin_ = Clock::now();
    save();
    if (optimizer_->steps() == 0) keep(0);
    const auto loss = [this](std::int64_t n) { return loss_of(n); };
    until_stopped([&] {
      train(*optimizer_, loss, options_of(settings_), [&](const TrainingStep& step) { return after(step, log); });
    });
    const double taken = seconds();
    save();
    if (optimizer_->steps() < settings_.steps) return std::nullopt;
    const Model model = stored();
    model.save(place_.model(), words_under("run", words_));
    std::optional<TrainReport> done;
    until_stopped([&] { done = report(model, taken); });
    return done;
  }

 private:
  [[nodiscard]] bool is_stopped() const { return watch_.stopped && watch_.stopped(); }

  // What is computed, down to a part of a step, ends when the run is to stop.
  template <class Body>
  void until_stopped(const Body& body) const {
    CallWatch stops;
    if (watch_.stopped) stops = [this] { return is_stopped() ? Proceed::stop : Proceed::go_on; };
    try {
      const core::Watched watched(stops);
      body();
    } catch (const Cancelled&) {  // NOLINT(bugprone-empty-catch): by a watch; run() saves what is done
    }
  }

  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds() const {
    return before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  [[nodiscard]] BatchLoss loss_of(std::int64_t n) const {
    ModelCall call{.dtype = core::dtype_named(settings_.dtype)};
    if (settings_.dropout > 0) {
      call.dropout =
          Dropout{.p = settings_.dropout, .seed = settings_.seed * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(n)};
    }
    return task_loss(*task_, model_, n * settings_.batch, settings_.batch, call);
  }

  Next after(const TrainingStep& step, const RunLog& log) {
    const std::int64_t done = step.step + 1;
    LoggedStep line{.step = done,
                    .loss = step.loss,
                    .gradient_norm = step.gradient_norm,
                    .learning_rate = step.learning_rate,
                    .tokens = step.tokens,
                    .seconds = seconds()};
    if (done % reporting_.examine_every == 0 || done == settings_.steps) {
      until_stopped([&] {
        const TaskAccuracy accuracy = task_accuracy(*task_, model_, reporting_.examples);
        line.accuracy = accuracy.share();
        line.held_out_loss = accuracy.loss();
        note_goal(line);
      });
    }
    log.append(line);
    if (watch_.stepped) watch_.stepped(line);
    keep(done);
    if (is_stopped()) return Next::stop;
    if (done % reporting_.save_every == 0) save();
    return Next::go_on;
  }

  // A text or pictures of the reader's own have none.
  [[nodiscard]] std::optional<double> goal() const {
    const double accuracy = task_->info().accuracy;
    return accuracy > 0 ? std::optional(accuracy) : std::nullopt;
  }

  void note_goal(const LoggedStep& step) {
    if (!reached_ && goal() && step.accuracy.value_or(0) >= *goal()) reached_ = step;
  }

  void save() const {
    const CallWatch whole = [] { return Proceed::go_on; };
    const core::Watched watched(whole);
    Words run = words_;
    run.merge(training::words_of(reporting_));
    Words metadata = model_.metadata();
    metadata.merge(words_under("run", run));
    save_checkpoint(place_.checkpoint(), *optimizer_, metadata);
  }

  void keep(std::int64_t step) const {
    if (reporting_.keep_every == 0 || (step % reporting_.keep_every != 0 && step != settings_.steps)) return;
    const CallWatch whole = [] { return Proceed::go_on; };
    const core::Watched watched(whole);
    std::filesystem::create_directories(std::filesystem::path(place_.kept(step)).parent_path());
    stored().save(place_.kept(step), words_under("run", words_));
  }

  [[nodiscard]] Model stored() const {
    const DType dtype = training::stored_dtype(settings_);
    return dtype == DType::f32 ? model_ : model_.to(dtype);
  }

  // Of the model as it is stored.
  [[nodiscard]] TrainReport report(const Model& model, double taken) const {
    TrainReport report{.settings = settings_,
                       .model = model_.config(),
                       .parameters = model_.parameter_count(),
                       .steps = optimizer_->steps(),
                       .seconds = taken,
                       .reached = reached_,
                       .examples = held_out_examples(*task_, 4 * reporting_.examples),
                       .goal = goal(),
                       .pattern_examples = held_out_examples(*task_, std::min<std::int64_t>(64, reporting_.examples))};
    if (watch_.doing) watch_.doing(std::to_string(report.examples) + " held-out examples are examined");
    report.accuracy = task_accuracy(*task_, model, report.examples);
    report.patterns = relation_scores(*task_, model, report.pattern_examples);
    if (settings_.task == "text" && model_.traits().goes_on) report.sample = sample();
    return report;
  }

  [[nodiscard]] TextSample sample() const {
    constexpr std::int64_t kSample = 240;
    const TrainedModel trained = TrainedModel::read(place_.model());
    Example example = task_->example(Split::test, 0);
    const std::string begin = task_->vocabulary().decode(example.tokens);
    trained.answer(example, {.most = kSample, .temperature = 0.8, .seed = settings_.seed});
    return {.prompt = begin, .text = task_->vocabulary().decode(example.tokens).substr(begin.size())};
  }

  TrainSettings settings_;
  TrainReporting reporting_;
  TrainPlace place_;
  const TrainWatch& watch_;
  std::unique_ptr<const Task> task_;
  Model model_;
  std::unique_ptr<Optimizer> optimizer_;
  Words words_;
  std::optional<LoggedStep> reached_ = std::nullopt;
  double before_ = 0;
  Clock::time_point begin_;
};

}  // namespace

std::string TrainPlace::kept(std::int64_t step) const {
  return fmt::format("{}/steps/{:08}.safetensors", directory, step);
}

std::vector<std::int64_t> kept_steps(const TrainPlace& place) {
  std::vector<std::int64_t> steps;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(place.directory + "/steps", none)) {
    const std::filesystem::path path = entry.path();
    const auto step = core::number_from<std::int64_t>(path.stem().string());
    if (step && path.extension() == ".safetensors") steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

std::optional<TrainReport> run_training(const TrainSettings& settings, const TrainReporting& reporting,
                                        const TrainPlace& place, TrainStart start, const TrainWatch& watch) {
  require_sound(settings, reporting);
  Run run(settings, reporting, place, watch);
  std::error_code failed;
  std::filesystem::create_directories(place.directory, failed);
  if (failed) files::fail("cannot write", place.directory, failed.message());
  const training::DirectoryLock lock(place.directory, "another qkv train is at work in " + place.directory);
  if (start == TrainStart::resumed) run.resume();
  return run.finish();
}

bool is_at_work(const TrainPlace& place) { return training::is_locked(place.directory); }

SavedRun read_saved_run(const TrainPlace& place) {
  const Checkpoint checkpoint = Checkpoint::read(place.checkpoint());
  const Words words = checkpoint.run();
  try {
    SavedRun saved{.settings = training::settings_of(words),
                   .reporting = training::reporting_of(words),
                   .steps = checkpoint.steps()};
    require_sound(saved.settings, saved.reporting);
    require_steps(checkpoint, saved.settings);
    if (!takes_data(saved.settings.task)) static_cast<void>(task_of(saved.settings));
    return saved;
  } catch (const InvalidArgument& error) {
    const bool is_reporting = words.contains("report." + error.argument());
    throw FileError(place.checkpoint(),
                    std::string("run.") + (is_reporting ? "report." : "") + error.argument() + ": " + error.fault());
  } catch (const Error& error) {
    throw FileError(place.checkpoint(), error.what());
  }
}

}  // namespace qkv
