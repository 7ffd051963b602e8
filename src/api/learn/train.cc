#include "qkv/api/train.h"

#include <algorithm>
#include <filesystem>

#include "api/fields/refuse.h"
#include "api/studio/question_watch.h"
#include "api/studio/studio_questions.h"
#include "core/watched.h"
#include "files/reading.h"

namespace qkv {
namespace {

constexpr std::int64_t kKept = 24;  // models on the way, so that a head can be watched forming

TrainSettings settings_of(const TrainRequest& request) {
  TrainSettings settings = recipe_for(request.task);
  settings.task = request.task;
  if (request.steps) settings.steps = *request.steps;
  return settings;
}

TrainReporting reporting_of(const TrainSettings& settings) {
  TrainReporting reporting;
  reporting.keep_every = std::max<std::int64_t>(1, settings.steps / kKept);
  reporting.examine_every = reporting.keep_every;
  return reporting;
}

TrainReply answer_train(api_detail::StudioState& /*needs none*/, const TrainRequest& request,
                        const StudioWatch& watch) {
  if (takes_data(request.task)) {
    api_detail::refuse("task", "one that makes its own examples: `qkv train` learns from files", request.task);
  }
  static_cast<void>(make_task(request.task));
  const TrainPlace place{.directory = "qkv-" + request.task};
  files::require_in_reach(place.directory);
  const bool begun = std::filesystem::exists(place.checkpoint());
  if (std::filesystem::exists(place.model())) {
    api_detail::refuse("task", "one that has not been learnt here", request.task + ", in " + place.directory);
  }
  TrainSettings settings = settings_of(request);
  TrainReporting reporting = reporting_of(settings);
  if (begun) {
    const SavedRun saved = read_saved_run(place);
    settings = saved.settings;
    reporting = saved.reporting;
  }
  // Once there is a step to tell of, the client is asked throughout; what is saved is saved whole.
  const CallWatch whole = [] { return Proceed::go_on; };
  const core::Watched watched(whole);
  bool stopped = false;
  bool is_told = false;
  const auto tell = [&](std::int64_t done) {
    is_told = true;
    stopped = stopped || (watch && watch("training", {.done = done, .total = settings.steps}) == Proceed::stop);
  };
  const TrainWatch told{
      .stepped = [&](const LoggedStep& step) { tell(step.step); },
      .doing = {},
      .stopped = [&] { return stopped || (is_told && api_detail::QuestionWatch::proceed() == Proceed::stop); }};
  const auto report = run_training(settings, reporting, place, begun ? TrainStart::resumed : TrainStart::anew, told);
  if (!report) throw Cancelled("training was stopped, all saved");
  return train_reply(*report);
}

}  // namespace

const Fields<TrainRequest>& train_fields() {
  static const Fields<TrainRequest> kFields = [] {
    constexpr std::int64_t kMostSteps = 100'000;
    Fields<TrainRequest> fields;
    fields.add(&TrainRequest::task, {.name = "task", .form = "TASK", .meaning = "One of those that learn lists"});
    fields.add(&TrainRequest::steps, {.name = "steps",
                                      .form = "N",
                                      .meaning = "Steps",
                                      .least = 1,
                                      .most = kMostSteps,
                                      .otherwise = "the recipe's"});
    fields.give_examples({{"task", "copy"}});
    return fields;
  }();
  return kFields;
}

api_detail::Answerer api_detail::train_question() {
  return answerer<TrainRequest, TrainReply>(
      "train",
      "A model learns a task in the directory qkv-TASK, where one that was stopped goes on; learn shows it meanwhile.",
      train_fields(), answer_train, {});
}

}  // namespace qkv
