#include <fmt/format.h>

#include <cmath>

#include "core/counted.h"
#include "qkv/api/saying.h"
#include "qkv/api/train.h"

namespace qkv {
namespace {

// Of a relation that the examples have no row of, there is nothing to say.
TrainedScore score_of(const PatternScore& score) {
  if (score.rows == 0) return {};
  return {.weight = score.mean_weight(), .hit = score.accuracy()};
}

TrainedPattern pattern_of(const RelationScores& scores) {
  TrainedPattern pattern;
  pattern.relation = scores.relation;
  pattern.site = name_of(scores.site);
  for (const std::vector<PatternScore>& heads : scores.layers) {
    auto& layer = pattern.layers.emplace_back();
    for (const PatternScore& head : heads) layer.push_back(score_of(head));
  }
  if (scores.layers.empty()) return pattern;
  const BestHead best = best_head(scores);
  if (best.score.rows == 0) return pattern;
  TrainedHead head;
  static_cast<TrainedScore&>(head) = score_of(best.score);
  head.layer = static_cast<std::int64_t>(best.layer);
  head.head = static_cast<std::int64_t>(best.head);
  pattern.best = head;
  return pattern;
}

std::string score_text(const PatternScore& score) {
  if (score.rows == 0) return fmt::format("{:>12}", "-");
  return fmt::format("{:.2f} ({:3.0f} %)", score.mean_weight(), 100 * score.accuracy());
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

TrainReply train_reply(const TrainReport& report) {
  TrainReply reply;
  reply.task = report.settings.task;
  reply.model.assign(report.model.begin(), report.model.end());
  reply.parameters = report.parameters;
  reply.steps = report.steps;
  reply.batch = report.settings.batch * report.settings.accumulation;
  reply.learning_rate = report.settings.learning_rate;
  reply.seconds = report.seconds;
  if (report.reached) reply.reached_at = {.step = report.reached->step, .seconds = report.reached->seconds};
  reply.examples = report.examples;
  reply.answers = report.accuracy.asked;
  reply.accuracy = report.accuracy.share();
  reply.goal = report.goal;
  reply.held_out_loss = report.accuracy.loss();
  reply.pattern_examples = report.pattern_examples;
  for (const RelationScores& scores : report.patterns) reply.patterns.push_back(pattern_of(scores));
  return reply;
}

std::string as_text(const TrainTokenizerReply& reply, const TokenizerRun& run) {
  const double each = reply.tokens == 0 ? 0 : static_cast<double>(reply.bytes) / static_cast<double>(reply.tokens);
  return fmt::format("{}, written to {}\n{} of {} are {}: {:.2f} bytes a token\n", core::counted(reply.pieces, "piece"),
                     run.out, core::counted(reply.bytes, "byte"), run.data, core::counted(reply.tokens, "token"), each);
}

std::string as_text(const TrainReport& report, const TrainPlace& place) {
  std::string text = fmt::format("{}: {} in {}, {} parameters\n", report.settings.task,
                                 core::counted(report.steps, "step"), duration_text(report.seconds), report.parameters);
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

Members<TrainedStep> describe(const TrainedStep* /*type*/) {
  return Members<TrainedStep>("TrainedStep")
      .add(&TrainedStep::step, "step", "Counted from 1")
      .add(&TrainedStep::seconds, "seconds", "Of the run until then");
}

Members<TrainedScore> describe(const TrainedScore* /*type*/) {
  return Members<TrainedScore>("TrainedScore")
      .add(&TrainedScore::weight, "weight", "Mean weight on the pattern's keys; null where no query has any")
      .add(&TrainedScore::hit, "hit", "Share of the queries whose largest weight is there; null likewise");
}

Members<TrainedHead> describe(const TrainedHead* /*type*/) {
  return Members<TrainedHead>("TrainedHead")
      .add(&TrainedHead::layer, "layer", "Its layer")
      .add(&TrainedHead::head, "head", "Its place there")
      .add(members_of<TrainedScore>());
}

Members<TrainedPattern> describe(const TrainedPattern* /*type*/) {
  return Members<TrainedPattern>("TrainedPattern")
      .add(&TrainedPattern::relation, "relation", "Its name")
      .add(&TrainedPattern::site, "site", "tokens, source or cross")
      .add(&TrainedPattern::layers, "layers", "Of each layer its heads")
      .add(&TrainedPattern::best, "best", "The head with the largest mean weight");
}

Members<TrainReply> describe(const TrainReply* /*type*/) {
  using R = TrainReply;
  return Members<R>("TrainReply")
      .add(&R::task, "task", "What was learnt")
      .add(&R::model, "model", "Its config, as the model's file has it")
      .add(&R::parameters, "parameters", "How many")
      .add(&R::steps, "steps", "That are done")
      .add(&R::batch, "batch", "Examples of a step")
      .add(&R::learning_rate, "learning_rate", "The highest")
      .add(&R::seconds, "seconds", "Of the whole run")
      .add(&R::reached_at, "reached_at", "Where the goal was first met")
      .add(&R::examples, "examples", "Held out, of the last examination")
      .add(&R::answers, "answers", "Tokens of them that were asked for")
      .add(&R::accuracy, "accuracy", "Share of the answers that are right")
      .add(&R::goal, "goal", "Share that the task asks for")
      .add(&R::held_out_loss, "held_out_loss", "Mean over these examples, in nats")
      .add(&R::pattern_examples, "pattern_examples", "Held out, by which the heads are scored")
      .add(&R::patterns, "patterns", "Those that a solved model must show")
      .add_cautions();
}

Members<TrainTokenizerReply> describe(const TrainTokenizerReply* /*type*/) {
  using R = TrainTokenizerReply;
  return Members<R>("TrainTokenizerReply")
      .add(&R::pieces, "pieces", "Of the vocabulary")
      .add(&R::bytes, "bytes", "Of the text")
      .add(&R::tokens, "tokens", "That the text is in these pieces")
      .add(&R::out, "out", "Where the tokenizer is written");
}

}  // namespace qkv
