#include "qkv/api/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/fields/refuse.h"
#include "api/studio/studio_questions.h"
#include "files/reading.h"
#include "qkv/train/run.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCurveSteps = 2000;

bool is_run(const fs::path& directory) {
  std::error_code none;
  return fs::exists(TrainPlace{directory.string()}.log(), none) ||
         fs::exists(TrainPlace{directory.string()}.checkpoint(), none);
}

LearnRun run_in(const std::string& directory, const std::vector<LoggedStep>& log) {
  const SavedRun saved = read_saved_run({directory});
  return {.directory = directory,
          .task = saved.settings.task,
          .done = log.empty() ? 0 : log.back().step,
          .steps = saved.settings.steps,
          .at_work = is_at_work({directory})};
}

// A directory that another process is writing may be half there: it is left out.
std::vector<LearnRun> runs_here() {
  std::vector<LearnRun> runs;
  std::error_code none;
  if (!files::is_in_reach(".")) return runs;
  for (const auto& entry : fs::directory_iterator(".", none)) {
    const std::string directory = entry.path().filename().string();
    if (!entry.is_directory(none) || !is_run(directory)) continue;
    try {
      runs.push_back(run_in(directory, read_log({directory})));
    } catch (const Error&) {
      continue;
    }
  }
  std::ranges::sort(runs, {}, &LearnRun::directory);
  return runs;
}

void draw(const std::vector<LoggedStep>& log, LearnReply& reply) {
  reply.every = std::max<std::int64_t>(1, (std::ssize(log) + kCurveSteps - 1) / kCurveSteps);
  std::vector<std::int64_t> steps;
  std::vector<double> loss;
  std::vector<double> norm;
  std::vector<double> rate;
  for (std::size_t n = 0; n < log.size(); ++n) {
    const LoggedStep& line = log[n];
    if (line.accuracy) reply.examined.push_back({line.step, *line.accuracy, line.held_out_loss});
    if (n % static_cast<std::size_t>(reply.every) != 0 && n + 1 != log.size()) continue;
    steps.push_back(line.step);
    loss.push_back(line.loss);
    norm.push_back(line.gradient_norm);
    rate.push_back(line.learning_rate);
  }
  const std::int64_t count = std::ssize(steps);
  reply.step = Tensor(steps, {count});
  reply.loss = Tensor(loss, {count});
  reply.gradient_norm = Tensor(norm, {count});
  reply.rate = Tensor(rate, {count});
  if (!log.empty()) reply.seconds = log.back().seconds;
}

std::vector<LearnModel> models_of(const TrainPlace& place) {
  std::vector<LearnModel> models;
  for (const std::int64_t step : kept_steps(place)) models.push_back({step, place.kept(step)});
  return models;
}

std::string sentence_of(const LearnReply& reply) {
  const LearnRun& run = *reply.run;
  std::string text = fmt::format("Step {} of {} of the task {}.", run.done, run.steps, run.task);
  if (!reply.examined.empty()) {
    const LearnExamination& last = reply.examined.back();
    text +=
        fmt::format(" After step {} it answers {:.2f} % of the held-out questions.", last.step, 100 * last.accuracy);
  }
  if (reply.kept.empty()) {
    text += " It kept no models on its way: `qkv train --keep-every N` does, and heads can be watched forming.";
  }
  return text;
}

LearnReply answer_learn(api_detail::StudioState& /*needs none*/, const LearnRequest& request,
                        const StudioWatch& /*quick*/) {
  LearnReply reply;
  for (const TaskInfo& task : tasks()) {
    reply.tasks.push_back({task.name, task.description, recipe_for(task.name).steps});
  }
  reply.runs = runs_here();
  if (request.run.empty()) {
    draw({}, reply);
    reply.sentence = reply.runs.empty() ? "No model has learnt in this directory yet." : "Choose a run.";
    return reply;
  }
  files::require_in_reach(request.run);
  if (!is_run(request.run)) {
    api_detail::refuse("run", "a directory in which `qkv train` writes", "\"" + request.run + "\"");
  }
  const TrainPlace place{request.run};
  const std::vector<LoggedStep> log = read_log(place);
  reply.run = run_in(request.run, log);
  draw(log, reply);
  reply.kept = models_of(place);
  const auto task = std::ranges::find(tasks(), reply.run->task, &TaskInfo::name);
  if (task != tasks().end() && task->accuracy > 0) reply.goal = task->accuracy;
  reply.sentence = sentence_of(reply);
  return reply;
}

}  // namespace

const Fields<LearnRequest>& learn_fields() {
  static const Fields<LearnRequest> kFields = [] {
    Fields<LearnRequest> fields;
    fields.add(&LearnRequest::run, {.name = "run",
                                    .form = "DIR",
                                    .meaning = "Where `qkv train` writes",
                                    .otherwise = "none: which runs there are"});
    fields.give_examples({{"run", "qkv-previous"}});
    return fields;
  }();
  return kFields;
}

Members<LearnRun> describe(const LearnRun* /*type*/) {
  return Members<LearnRun>("LearnRun")
      .add(&LearnRun::directory, "directory", "What the field `run` takes")
      .add(&LearnRun::task, "task", "What is learnt")
      .add(&LearnRun::done, "done", "Steps so far")
      .add(&LearnRun::steps, "steps", "Of the whole run")
      .add(&LearnRun::at_work, "at_work", "Whether a process trains there now");
}

Members<LearnExamination> describe(const LearnExamination* /*type*/) {
  return Members<LearnExamination>("LearnExamination")
      .add(&LearnExamination::step, "step", "After which step")
      .add(&LearnExamination::accuracy, "accuracy", "Share of right answers, held out")
      .add(&LearnExamination::loss, "loss", "On the same examples, in nats");
}

Members<LearnModel> describe(const LearnModel* /*type*/) {
  return Members<LearnModel>("LearnModel")
      .add(&LearnModel::step, "step", "After so many steps")
      .add(&LearnModel::path, "path", "What the field `model` of heads and head takes");
}

Members<LearnTask> describe(const LearnTask* /*type*/) {
  return Members<LearnTask>("LearnTask")
      .add(&LearnTask::name, "name", "What the field `task` of train takes")
      .add(&LearnTask::description, "description", "A line")
      .add(&LearnTask::steps, "steps", "Of its recipe");
}

Members<LearnReply> describe(const LearnReply* /*type*/) {
  using R = LearnReply;
  return Members<R>("LearnReply")
      .add(&R::tasks, "tasks", "What can be learnt here, by the question train")
      .add(&R::runs, "runs", "Below the directory in which qkv was started")
      .add(&R::run, "run", "The one that was asked for")
      .add(&R::step, "step", "i64 [n]: the steps that are drawn")
      .add(&R::loss, "loss", "f64 [n]: of the step's batches, in nats")
      .add(&R::gradient_norm, "gradient_norm", "f64 [n]: before clipping")
      .add(&R::rate, "rate", "f64 [n]: the learning rate")
      .add(&R::every, "every", "Each so many-th step is drawn, and the last")
      .add(&R::seconds, "seconds", "Of the run so far")
      .add(&R::examined, "examined", "Accuracies on held-out examples")
      .add(&R::kept, "kept", "Models on the way")
      .add(&R::goal, "goal", "The accuracy that the task asks for")
      .add(&R::sentence, "sentence", "In words");
}

api_detail::Answerer api_detail::learn_question() {
  return answerer<LearnRequest, LearnReply>("learn", "A training run: its curves, and the models that it kept.",
                                            learn_fields(), answer_learn, {"{}"});
}

}  // namespace qkv
