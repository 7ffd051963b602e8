#include "train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "commands.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"
#include "qkv/train/checkpoint.h"
#include "qkv/train/examine.h"
#include "qkv/train/trained_model.h"
#include "train_data.h"
#include "train_log.h"
#include "train_progress.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kInterrupted = 130;

Json score_of(const PatternScore& score) { return {{"weight", score.mean_weight()}, {"hit", score.accuracy()}}; }

Json scores_of(const RelationScores& scores) {
  Json layers = Json::array();
  for (const std::vector<PatternScore>& heads : scores.layers) {
    Json layer = Json::array();
    for (const PatternScore& head : heads) layer.push_back(score_of(head));
    layers.push_back(std::move(layer));
  }
  Json json = {{"relation", scores.relation}, {"site", name_of(scores.site)}, {"layers", std::move(layers)}};
  if (scores.layers.empty()) return json;
  const BestHead best = best_head(scores);
  json["best"] = {{"layer", best.layer}, {"head", best.head}};
  json["best"].update(score_of(best.score));
  return json;
}

class Run {
 public:
  Run(const TrainSettings& settings, const TrainPlace& place, const TrainReporting& reporting)
      : settings_(settings),
        place_(place),
        reporting_(reporting),
        task_(task_of(settings)),
        model_(model_of(settings, *task_)),
        optimizer_(optimizer_of(settings, model_->parameters())),
        facts_{.model = model_->facts(), .run = words_of(settings)} {
    facts_.run["examples"] = fingerprint(*task_);
    describe_task(*task_, facts_.run);
  }

  void resume() {
    const Checkpoint checkpoint = Checkpoint::read(place_.checkpoint());
    require_same_examples(checkpoint.facts().run, facts_.run, settings_);
    checkpoint.restore(*optimizer_, facts_.model);
    for (const auto& entry : std::filesystem::directory_iterator(place_.directory)) {
      // What a kill left of a checkpoint that was being written.
      if (entry.path().filename().string().starts_with(".qkv-partial-")) std::filesystem::remove(entry.path());
    }
  }

  void train() {
    const InterruptWatch interrupts;
    log_.emplace(place_.log(), optimizer_->steps());
    const auto loss = [this](std::int64_t n) { return loss_of(n); };
    const TrainingOptions options = training_of(settings_);
    {
      TrainProgress progress(settings_.task, optimizer_->steps(), settings_.steps);
      save();
      qkv::train(*optimizer_, loss, options, [&](const TrainingStep& step) { return after(step, progress); });
      seconds_ = progress.seconds();
    }
    save();
    log_->draw(settings_.task, place_.directory);
    if (optimizer_->steps() < settings_.steps) {
      complain("qkv train",
               fmt::format("stopped after step {} of {}, all saved; go on with: qkv train {} --out {} --resume",
                           optimizer_->steps(), settings_.steps, target_of(settings_), place_.directory));
      throw Exit{kInterrupted};
    }
    save_model(place_.model(), optimizer_->parameters(), facts_);
  }

  void report() const {
    const std::int64_t examples = 4 * reporting_.examples;
    const std::int64_t looked_at = std::min<std::int64_t>(64, reporting_.examples);
    const TaskAccuracy accuracy = task_accuracy(*task_, *model_, examples);
    const std::vector<RelationScores> patterns = task_patterns(*task_, *model_, looked_at);
    Json json = {{"task", settings_.task},
                 {"model", facts_.model},
                 {"parameters", model_->parameter_count()},
                 {"steps", optimizer_->steps()},
                 {"batch", settings_.batch * settings_.accumulation},
                 {"learning_rate", settings_.learning_rate},
                 {"seconds", seconds_},
                 {"reached_at", reached_ ? Json(*reached_) : Json()},
                 {"examples", examples},
                 {"answers", accuracy.asked},
                 {"accuracy", accuracy.share()},
                 {"goal", has_goal() ? Json(task_->info().accuracy) : Json()},
                 {"held_out_loss", accuracy.loss()},
                 {"pattern_examples", looked_at},
                 {"patterns", Json::array()}};
    for (const RelationScores& scores : patterns) json["patterns"].push_back(scores_of(scores));
    print(reporting_.json ? json.dump(2) + "\n" : text_of(accuracy, patterns));
  }

 private:
  BatchLoss loss_of(std::int64_t n) const {
    TaskModelCall call{.dtype = settings_.dtype == "bf16" ? DType::bf16 : DType::f32};
    if (settings_.dropout > 0) {
      call.dropout =
          Dropout{.p = settings_.dropout, .seed = settings_.seed * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(n)};
    }
    return task_loss(*task_, *model_, n * settings_.batch, settings_.batch, call);
  }

  Next after(const TrainingStep& step, TrainProgress& progress) {
    const std::int64_t done = step.step + 1;
    progress.show(step.loss, step.tokens);
    Json line = {{"step", done},
                 {"loss", step.loss},
                 {"gradient_norm", step.gradient_norm},
                 {"learning_rate", step.learning_rate},
                 {"tokens", step.tokens},
                 {"seconds", progress.seconds()}};
    if (done % reporting_.examine_every == 0) examine(done, progress, line);
    log_->append(line);
    if (InterruptWatch::interrupted()) return Next::stop;
    if (done % reporting_.save_every == 0) save();
    return Next::go_on;
  }

  void examine(std::int64_t done, const TrainProgress& progress, Json& line) {
    const TaskAccuracy accuracy = task_accuracy(*task_, *model_, reporting_.examples);
    line["accuracy"] = accuracy.share();
    line["held_out_loss"] = accuracy.loss();
    if (!reached_ && has_goal() && accuracy.share() >= task_->info().accuracy) {
      reached_ = {{"step", done}, {"seconds", progress.seconds()}};
    }
  }

  // A text or pictures of the reader's own have none.
  [[nodiscard]] bool has_goal() const { return task_->info().accuracy > 0; }

  void save() const { save_checkpoint(place_.checkpoint(), *optimizer_, facts_); }

  [[nodiscard]] std::string text_of(const TaskAccuracy& accuracy, const std::vector<RelationScores>& patterns) const {
    std::string text = fmt::format("{}: {} steps in {}, {} parameters\n", settings_.task, optimizer_->steps(),
                                   duration_text(seconds_), model_->parameter_count());
    const std::string goal = has_goal() ? fmt::format(" (goal {:g} %)", 100 * task_->info().accuracy) : "";
    text += fmt::format("held out  {:.2f} % of {} answers are right{}, loss {:.4f}\n", 100 * accuracy.share(),
                        accuracy.asked, goal, accuracy.loss());
    if (reached_) {
      text += fmt::format("goal      first met at step {}, after {}\n", (*reached_)["step"].get<std::int64_t>(),
                          duration_text((*reached_)["seconds"].get<double>()));
    }
    for (const RelationScores& scores : patterns) {
      if (scores.layers.empty()) continue;
      text += fmt::format("\npattern {} ({}): mean weight on it (and how often it has the largest)\n", scores.relation,
                          name_of(scores.site));
      for (std::size_t layer = 0; layer < scores.layers.size(); ++layer) {
        text += fmt::format("  layer {}", layer);
        for (const PatternScore& head : scores.layers[layer]) {
          text += fmt::format("   {:.2f} ({:3.0f} %)", head.mean_weight(), 100 * head.accuracy());
        }
        text += "\n";
      }
    }
    text += sample_text();
    return text + fmt::format("\nwritten to {}: model, checkpoint, log.jsonl, loss.svg, loss.png\n", place_.directory);
  }

  // Of a text of the reader's own: how the model goes on from a held-out beginning.
  [[nodiscard]] std::string sample_text() const {
    constexpr std::int64_t kSample = 240;
    if (settings_.task != "text" || model_->layout() != BatchLayout::joined) return "";
    const TrainedModel trained = TrainedModel::read(place_.model());
    const TaskVocabulary& vocabulary = task_->vocabulary();
    TaskExample example = task_->example(Split::test, 0);
    const std::string begin = vocabulary.decode(example.tokens);
    trained.answer(example, {.most = kSample, .temperature = 0.8, .seed = settings_.seed});
    const std::string whole = vocabulary.decode(example.tokens);
    return fmt::format("\nafter \"…{}\" it goes on:\n{}\n",
                       begin.substr(begin.find_last_of(" \n", begin.size() - 1) + 1), whole.substr(begin.size()));
  }

  TrainSettings settings_;
  TrainPlace place_;
  TrainReporting reporting_;
  std::unique_ptr<const Task> task_;
  std::unique_ptr<const TaskModel> model_;
  std::unique_ptr<Optimizer> optimizer_;
  CheckpointFacts facts_;
  std::optional<TrainLog> log_ = std::nullopt;
  std::optional<Json> reached_ = std::nullopt;
  double seconds_ = 0;
};

}  // namespace

void run_training(const TrainSettings& settings, const TrainPlace& place, const TrainReporting& reporting,
                  TrainStart start) {
  Run run(settings, place, reporting);
  std::error_code failed;
  std::filesystem::create_directories(place.directory, failed);
  if (failed) throw Error("cannot write " + place.directory + ": " + failed.message());
  if (start == TrainStart::resumed) run.resume();
  run.train();
  run.report();
}

}  // namespace qkv::cli
