#include "train_text.h"

#include <fmt/format.h>

#include <cmath>

#include "progress.h"

namespace qkv::cli {
namespace {

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

std::string patterns_text(const RelationScores& scores) {
  std::string text = fmt::format("\npattern {} ({}): mean weight on it (and how often it has the largest)\n",
                                 scores.relation, name_of(scores.site));
  for (std::size_t layer = 0; layer < scores.layers.size(); ++layer) {
    text += fmt::format("  layer {}", layer);
    for (const PatternScore& head : scores.layers[layer]) text += "   " + score_text(head);
    text += '\n';
  }
  return text;
}

std::string sample_text(const TextSample& sample) {
  const std::size_t space = sample.prompt.find_last_of(" \n", sample.prompt.size() - 1);
  return fmt::format("\nafter \"…{}\" it goes on:\n{}\n", sample.prompt.substr(space + 1), sample.text);
}

}  // namespace

std::string resuming_command(const TrainSettings& settings, const TrainPlace& place) {
  const std::string data = settings.data.empty() ? "" : " " + quoted(settings.data);
  return "qkv train " + settings.task + data + " --out " + quoted(place.directory) + " --resume";
}

std::string text_of(const TrainReport& report, const TrainPlace& place) {
  std::string text = fmt::format("{}: {} steps in {}, {} parameters\n", report.settings.task, report.steps,
                                 duration_text(report.seconds), report.parameters);
  const std::string goal = report.goal ? fmt::format(" (goal {:g} %)", 100 * *report.goal) : "";
  const double loss = report.accuracy.loss();
  const std::string perplexity = report.sample ? fmt::format(", perplexity {:.2f}", std::exp(loss)) : "";
  text += fmt::format("held out  {:.2f} % of {} answers are as expected{}, loss {:.4f}{}\n",
                      100 * report.accuracy.share(), report.accuracy.asked, goal, loss, perplexity);
  if (report.reached) {
    text += fmt::format("goal      first met at step {}, after {}\n", report.reached->step,
                        duration_text(report.reached->seconds));
  }
  for (const RelationScores& scores : report.patterns) {
    if (!scores.layers.empty()) text += patterns_text(scores);
  }
  if (report.sample) text += sample_text(*report.sample);
  return text + fmt::format("\nwritten to {}: model, checkpoint, log.jsonl, loss.svg, loss.png\n", place.directory);
}

}  // namespace qkv::cli
