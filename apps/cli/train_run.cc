#include "train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "commands.h"
#include "directory_lock.h"
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

// Of a relation that the examples have no row of, there is nothing to say.
Json score_of(const PatternScore& score) {
  if (score.rows == 0) return {{"weight", nullptr}, {"hit", nullptr}};
  return {{"weight", score.mean_weight()}, {"hit", score.accuracy()}};
}

std::string score_text(const PatternScore& score) {
  if (score.rows == 0) return fmt::format("{:>12}", "-");
  return fmt::format("{:.2f} ({:3.0f} %)", score.mean_weight(), 100 * score.accuracy());
}

// As a shell reads it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string resuming_command(const TrainSettings& settings, const TrainPlace& place) {
  const std::string data = settings.data.empty() ? "" : " " + quoted(settings.data);
  return "qkv train " + settings.task + data + " --out " + quoted(place.directory) + " --resume";
}

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
  if (best.score.rows == 0) return json;
  json["best"] = {{"layer", best.layer}, {"head", best.head}};
  json["best"].update(score_of(best.score));
  return json;
}

std::map<std::string, std::string> run_metadata(const std::map<std::string, std::string>& run) {
  std::map<std::string, std::string> words;
  for (const auto& [word, what] : run) words["run." + word] = what;
  return words;
}

class Run {
 public:
  Run(const TrainSettings& settings, TrainPlace place, const TrainReporting& reporting)
      : settings_(settings),
        place_(std::move(place)),
        reporting_(reporting),
        task_(task_of(settings)),
        model_(model_of(settings, *task_)),
        optimizer_(optimizer_of(settings, model_.parameters())),
        run_(words_of(settings)) {
    run_["examples"] = fingerprint(*task_);
    describe_task(*task_, run_);
  }

  void resume() {
    const Checkpoint checkpoint = Checkpoint::read(place_.checkpoint());
    require_same_examples(checkpoint.run(), run_, settings_);
    checkpoint.restore(*optimizer_, model_.metadata());
    for (const auto& entry : std::filesystem::directory_iterator(place_.directory)) {
      // What a kill left of a checkpoint that was being written.
      if (entry.path().filename().string().starts_with(".qkv-partial-")) std::filesystem::remove(entry.path());
    }
  }

  void train() {
    log_.emplace(place_.log(), optimizer_->steps());
    remember();
    learn();
    if (optimizer_->steps() == settings_.steps) return;
    complain("qkv train", fmt::format("stopped after step {} of {}, all saved; go on with: {}", optimizer_->steps(),
                                      settings_.steps, resuming_command(settings_, place_)));
    throw Exit{kInterrupted};
  }

  void report() const {
    Json json = {{"task", settings_.task},
                 {"model", model_.config()},
                 {"parameters", model_.parameter_count()},
                 {"steps", optimizer_->steps()},
                 {"batch", settings_.batch * settings_.accumulation},
                 {"learning_rate", settings_.learning_rate},
                 {"seconds", seconds_},
                 {"reached_at", reached_ ? Json(*reached_) : Json()},
                 {"examples", final_examples()},
                 {"answers", accuracy_.asked},
                 {"accuracy", accuracy_.share()},
                 {"goal", has_goal() ? Json(task_->info().accuracy) : Json()},
                 {"held_out_loss", accuracy_.loss()},
                 {"pattern_examples", pattern_examples()},
                 {"patterns", Json::array()}};
    for (const RelationScores& scores : patterns_) json["patterns"].push_back(scores_of(scores));
    print(reporting_.json ? json.dump(2) + "\n" : text());
  }

 private:
  // Of what a run has done before this part of it, the log tells.
  void remember() {
    for (const Json& line : log_->lines()) {
      seconds_ = line.value("seconds", 0.0);
      if (line.contains("accuracy")) note_goal(line);
    }
  }

  void learn() {
    TrainProgress progress(settings_.task, optimizer_->steps(), settings_.steps, seconds_);
    take_steps(progress);
    if (optimizer_->steps() < settings_.steps) return;
    progress.say(fmt::format("{} held-out examples are examined", final_examples()));
    accuracy_ = task_accuracy(*task_, model_, final_examples());
    patterns_ = task_patterns(*task_, model_, pattern_examples());
  }

  void take_steps(TrainProgress& progress) {
    const InterruptWatch interrupts;
    save();
    try {
      const auto loss = [this](std::int64_t n) { return loss_of(n); };
      qkv::train(*optimizer_, loss, training_of(settings_), [&](const auto& step) { return after(step, progress); });
    } catch (const Diverged& error) {
      draw();
      throw Error(
          fmt::format("{}; {} holds the last checkpoint: to begin anew, say with a lower --learning-rate, name "
                      "another --out or empty it",
                      error.what(), place_.directory));
    }
    seconds_ = progress.seconds();
    save();
    draw();
    if (optimizer_->steps() == settings_.steps) model_.save(place_.model(), run_metadata(run_));
  }

  void draw() const { log_->draw(settings_.task + ", " + std::string(name_of(model_.kind())), place_.directory); }

  [[nodiscard]] std::int64_t final_examples() const { return held_out_examples(*task_, 4 * reporting_.examples); }

  [[nodiscard]] std::int64_t pattern_examples() const {
    return held_out_examples(*task_, std::min<std::int64_t>(64, reporting_.examples));
  }

  BatchLoss loss_of(std::int64_t n) const {
    ModelCall call{.dtype = settings_.dtype == "bf16" ? DType::bf16 : DType::f32};
    if (settings_.dropout > 0) {
      call.dropout =
          Dropout{.p = settings_.dropout, .seed = settings_.seed * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(n)};
    }
    return task_loss(*task_, model_, n * settings_.batch, settings_.batch, call);
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
    if (done % reporting_.examine_every == 0 || done == settings_.steps) examine(line);
    log_->append(line);
    if (InterruptWatch::interrupted()) return Next::stop;
    if (done % reporting_.save_every == 0) save();
    return Next::go_on;
  }

  void examine(Json& line) {
    const TaskAccuracy accuracy = task_accuracy(*task_, model_, reporting_.examples);
    line["accuracy"] = accuracy.share();
    line["held_out_loss"] = accuracy.loss();
    note_goal(line);
  }

  void note_goal(const Json& line) {
    if (reached_ || !has_goal() || line["accuracy"].get<double>() < task_->info().accuracy) return;
    reached_ = {{"step", line["step"]}, {"seconds", line["seconds"]}};
  }

  // A text or pictures of the reader's own have none.
  [[nodiscard]] bool has_goal() const { return task_->info().accuracy > 0; }

  void save() const {
    std::map<std::string, std::string> run = run_;
    run.merge(words_of(reporting_));
    std::map<std::string, std::string> metadata = model_.metadata();
    metadata.merge(run_metadata(run));
    save_checkpoint(place_.checkpoint(), *optimizer_, metadata);
  }

  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("{}: {} steps in {}, {} parameters\n", settings_.task, optimizer_->steps(),
                                   duration_text(seconds_), model_.parameter_count());
    const std::string goal = has_goal() ? fmt::format(" (goal {:g} %)", 100 * task_->info().accuracy) : "";
    text += fmt::format("held out  {:.2f} % of {} answers are right{}, loss {:.4f}\n", 100 * accuracy_.share(),
                        accuracy_.asked, goal, accuracy_.loss());
    if (reached_) {
      text += fmt::format("goal      first met at step {}, after {}\n", (*reached_)["step"].get<std::int64_t>(),
                          duration_text((*reached_)["seconds"].get<double>()));
    }
    for (const RelationScores& scores : patterns_) {
      if (scores.layers.empty()) continue;
      text += fmt::format("\npattern {} ({}): mean weight on it (and how often it has the largest)\n", scores.relation,
                          name_of(scores.site));
      for (std::size_t layer = 0; layer < scores.layers.size(); ++layer) {
        text += fmt::format("  layer {}", layer);
        for (const PatternScore& head : scores.layers[layer]) {
          text += "   " + score_text(head);
        }
        text += '\n';
      }
    }
    text += sample_text();
    return text + fmt::format("\nwritten to {}: model, checkpoint, log.jsonl, loss.svg, loss.png\n", place_.directory);
  }

  // Of a text of the reader's own: how the model goes on from a held-out beginning.
  [[nodiscard]] std::string sample_text() const {
    constexpr std::int64_t kSample = 240;
    if (settings_.task != "text" || layout_for(model_.kind()) != BatchLayout::joined) return "";
    const TrainedModel trained = TrainedModel::read(place_.model());
    const Tokenizer& vocabulary = task_->vocabulary();
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
  Model model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::map<std::string, std::string> run_;
  std::optional<TrainLog> log_ = std::nullopt;
  std::optional<Json> reached_ = std::nullopt;
  double seconds_ = 0;
  TaskAccuracy accuracy_ = {};
  std::vector<RelationScores> patterns_ = {};
};

}  // namespace

void run_training(const TrainSettings& settings, const TrainPlace& place, const TrainReporting& reporting,
                  TrainStart start) {
  Run run(settings, place, reporting);
  std::error_code failed;
  std::filesystem::create_directories(place.directory, failed);
  if (failed) throw Error("cannot write " + place.directory + ": " + failed.message());
  const DirectoryLock lock(place.directory, "another qkv train is at work in " + place.directory);
  if (start == TrainStart::resumed) run.resume();
  run.train();
  run.report();
}

}  // namespace qkv::cli
