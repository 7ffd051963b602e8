#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/fields/refuse.h"
#include "api/studio/question_watch.h"
#include "core/nearest_word.h"
#include "core/watched.h"
#include "files/place.h"
#include "qkv/api/train.h"
#include "qkv/files.h"
#include "qkv/model/box.h"
#include "qkv/model/model.h"
#include "qkv/text/read_tokenizer.h"
#include "qkv/written_files.h"

namespace qkv {

using api_detail::refuse;

namespace {

constexpr const char* kNoModel = "no model is trained";

void say_company(Fields<TrainRun>& fields) {
  const auto exclude = [&](const FieldInfo& field, const char* other, const char* why) {
    if (field.name != "task" && field.name != "data") fields.exclude({field.name}, {other}, why);
  };
  for (const FieldInfo& field : train_settings_fields().infos()) {
    exclude(field, "task=tokenizer", kNoModel);
    exclude(field, "resume", "a run goes on with the settings it began with");
  }
  for (const FieldInfo& field : train_reporting_fields().infos()) exclude(field, "task=tokenizer", kNoModel);
  fields.exclude({"resume"}, {"task=tokenizer"}, kNoModel);
}

}  // namespace

const Fields<TrainRun>& train_run_fields() {
  static const Fields<TrainRun> kFields = [] {
    Fields<TrainRun> fields;
    fields.add(&TrainRun::settings, train_settings_fields());
    fields.add(&TrainRun::size, {.name = "size",
                                 .form = "N",
                                 .meaning = "Pieces of a tokenizer",
                                 .group = "A tokenizer",
                                 .needs = {"task=tokenizer"},
                                 .fallback = "8000"});
    fields.add(&TrainRun::out, {.name = "out",
                                .form = "DIR",
                                .meaning = "Where checkpoint, model, log and pictures go",
                                .group = "The run",
                                .otherwise = "qkv-TASK"});
    fields.add(&TrainRun::reporting, train_reporting_fields());
    fields.add(&TrainRun::resume,
               {.name = "resume", .meaning = "Go on from the checkpoint in DIR, bit for bit", .group = "The run"});
    fields.give_bounds({{"size", 257, 1 << 24}});
    fields.give_examples({{"out", "copy"}});
    say_company(fields);
    return fields;
  }();
  return kFields;
}

void require_trained(const std::string& task) {
  std::vector<std::string_view> known;
  for (const TaskInfo& info : tasks()) known.push_back(info.name);
  known.insert(known.end(), {"text", "pictures", "tokenizer"});
  if (std::ranges::find(known, task) == known.end()) core::refuse_word(api_detail::kRequest, "task", task, known);
}

void require_data(const TrainSettings& settings) {
  if (takes_data(settings.task) && settings.data.empty()) {
    refuse("data", settings.task == "text" ? "a file for text" : "a directory for " + settings.task, "none");
  }
}

TokenizerRun tokenizer_run(const TrainRun& run) {
  if (run.settings.data.empty()) refuse("data", "a file for tokenizer", "none");
  TokenizerRun tokenizer{.data = run.settings.data, .out = run.out.empty() ? "tokenizer.json" : run.out, .options = {}};
  tokenizer.options.size = run.size.value_or(tokenizer.options.size);
  return tokenizer;
}

TrainTokenizerReply trained_tokenizer(const TokenizerRun& run) {
  const std::string text = files::read_text(run.data);
  if (text.empty()) refuse("data", "a text with tokens", run.data + ", which is empty");
  require_writable(run.out);
  if (is_same_place(run.data, run.out)) {
    refuse("out", "a file other than that of `data`, which is read", "\"" + run.out + "\"");
  }
  const std::string json = train_tokenizer(text, run.options);
  write_file(run.out, json);
  const auto tokenizer = parse_tokenizer_json(json, run.out);
  return {.pieces = static_cast<std::int64_t>(tokenizer->size()),
          .bytes = static_cast<std::int64_t>(text.size()),
          .tokens = static_cast<std::int64_t>(tokenizer->encode(text).ids.size()),
          .out = run.out};
}

namespace {

TrainReporting resumed_reporting(const TrainReporting& asked, const TrainReporting& saved, const Given& given) {
  TrainReporting reporting = asked;
  if (!given.has("examine_every")) reporting.examine_every = saved.examine_every;
  if (!given.has("save_every")) reporting.save_every = saved.save_every;
  if (!given.has("keep_every")) reporting.keep_every = saved.keep_every;
  if (!given.has("examples")) reporting.examples = saved.examples;
  return reporting;
}

PlannedRun resumed_run(const TrainRun& run, const TrainPlace& place, const Given& given) {
  require_sound({}, run.reporting);
  if (!std::filesystem::exists(place.checkpoint()))
    refuse("resume", "a checkpoint in \"" + place.directory + "\"", "none");
  const SavedRun saved = read_saved_run(place);
  const auto held = [&](const std::string& what) { return what + ", which \"" + place.directory + "\" holds"; };
  const TrainSettings& asked = run.settings;
  if (saved.settings.task != asked.task) refuse("task", held(saved.settings.task), asked.task);
  if (!asked.data.empty() && saved.settings.data != asked.data) refuse("data", held(saved.settings.data), asked.data);
  return {.settings = saved.settings,
          .reporting = resumed_reporting(run.reporting, saved.reporting, given),
          .place = place,
          .start = TrainStart::resumed,
          .done = saved.steps};
}

// Nothing while the log has no line.
void draw_losses(const PlannedRun& run) {
  const std::vector<LoggedStep> log = read_log(run.place);
  if (log.empty()) return;
  const Chart chart = loss_chart(log, run.settings.task + ", " + run.settings.model);
  write_file(run.place.directory + "/loss.svg", to_svg(chart));
  write_file(run.place.directory + "/loss.png", to_png(chart));
}

}  // namespace

PlannedRun planned_run(const TrainRun& run, const Given& given, const Saying& saying) {
  const TrainPlace place{.directory = run.out.empty() ? "qkv-" + run.settings.task : run.out};
  train_run_fields().require_company(run);
  if (run.resume) return resumed_run(run, place, given);
  require_data(run.settings);
  const TrainSettings settings = with_recipe(run.settings, given);
  require_sound(settings, run.reporting);
  if (std::filesystem::exists(place.checkpoint())) {
    refuse("out", "a directory without a checkpoint, or `resume` beside it",
           "\"" + place.directory + "\", which has one");
  }
  if (settings.from && saying.caution) {
    const Model from = Model::open(trained_model_path(*settings.from), QuantisedWeights::as_stored);
    for (const std::string& what : from.cautions()) saying.careful(what);
    if (!from.quantised_words().empty()) {
      saying.careful(fmt::format("the weights of {} are quantised: their f32 values are trained, and {} is written",
                                 *settings.from, settings.stored.value_or("f32")));
    }
  }
  return {.settings = settings, .reporting = run.reporting, .place = place};
}

std::optional<TrainReport> train_as_planned(const PlannedRun& run, const TrainWatch& watch) {
  try {
    auto report = run_training(run.settings, run.reporting, run.place, run.start, watch);
    draw_losses(run);
    return report;
  } catch (const Diverged& error) {
    draw_losses(run);
    throw Error(fmt::format(
        "{}; \"{}\" holds the last checkpoint: to begin anew, say with a lower `learning_rate`, name another "
        "`out` or empty it",
        error.what(), run.place.directory));
  }
}

AnyReply answer(const TrainRun& run, const Given& given, const Saying& saying) {
  require_trained(run.settings.task);
  if (run.settings.task == "tokenizer") return any_reply(trained_tokenizer(tokenizer_run(run)));
  const PlannedRun planned = planned_run(run, given, saying);
  using api_detail::QuestionWatch;
  // Once there is a step to tell of, whoever waits is asked after each; what is saved is saved whole.
  const CallWatch whole = [] { return Proceed::go_on; };
  std::optional<core::Watched> watched;
  if (QuestionWatch::is_there()) watched.emplace(whole);
  bool is_told = false;
  const auto report = train_as_planned(
      planned, {.stepped =
                    [&](const LoggedStep& step) {
                      is_told = true;
                      QuestionWatch::note("training", {.done = step.step, .total = planned.settings.steps});
                    },
                .doing = {},
                .stopped = [&] { return is_told && QuestionWatch::proceed() == Proceed::stop; }});
  if (!report) throw Cancelled("training was stopped, all saved");
  return any_reply(train_reply(*report));
}

}  // namespace qkv
