#include <nlohmann/json.hpp>

#include "qkv/train/run.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

// Of a relation that the examples have no row of, there is nothing to say.
Json score_of(const PatternScore& score) {
  if (score.rows == 0) return {{"weight", nullptr}, {"hit", nullptr}};
  return {{"weight", score.mean_weight()}, {"hit", score.accuracy()}};
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

}  // namespace

std::string to_json(const TrainReport& report) {
  Json reached;
  if (report.reached) reached = {{"step", report.reached->step}, {"seconds", report.reached->seconds}};
  Json json = {{"task", report.settings.task},
               {"model", report.model},
               {"parameters", report.parameters},
               {"steps", report.steps},
               {"batch", report.settings.batch * report.settings.accumulation},
               {"learning_rate", report.settings.learning_rate},
               {"seconds", report.seconds},
               {"reached_at", reached},
               {"examples", report.examples},
               {"answers", report.accuracy.asked},
               {"accuracy", report.accuracy.share()},
               {"goal", report.goal ? Json(*report.goal) : Json()},
               {"held_out_loss", report.accuracy.loss()},
               {"pattern_examples", report.pattern_examples},
               {"patterns", Json::array()}};
  for (const RelationScores& scores : report.patterns) json["patterns"].push_back(scores_of(scores));
  return json.dump(2) + "\n";
}

}  // namespace qkv
