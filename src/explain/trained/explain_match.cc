#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "explain/numbers.h"
#include "explain/trained/rests_on.h"
#include "qkv/explain/match.h"

namespace qkv {
namespace {

using namespace explain_detail;

constexpr const char* kExplainMatch = "explain_match";

void require_fit(const MatchQuestion& question, const PairMatch& match) {
  const std::size_t count = question.pictures.size();
  if (question.names.size() != count) {
    throw InvalidArgument(kExplainMatch, "names", fmt::format("{}, one for each picture", count),
                          fmt::format("{}", question.names.size()));
  }
  const Shape pairs{std::ssize(question.pictures), std::ssize(question.captions)};
  if (match.cosines.shape() == pairs && pairs.product() > 0) return;
  throw InvalidArgument(kExplainMatch, "match",
                        fmt::format("that of {} pictures and {} captions, one or more of each", pairs[0], pairs[1]),
                        match.cosines.shape().to_string());
}

std::string_view meaning_of(PairLoss loss) {
  return loss == PairLoss::softmax
             ? "The probability is that of the caption among these captions, if exactly one of them is the picture's: "
               "the softmax of the logits of the picture."
             : "The probability is that picture and caption belong together, each pair by itself: the sigmoid of the "
               "logit.";
}

Table table_of(const MatchQuestion& question, const PairMatch& match, std::int64_t picture) {
  Table table{question.names[static_cast<std::size_t>(picture)], {"caption", "cosine", "logit", "probability", ""}, {}};
  const std::vector<double> scores = match.scores.view().select(0, picture).to_vector();
  const auto best = std::ranges::max_element(scores) - scores.begin();
  for (std::int64_t n = 0; n < std::ssize(scores); ++n) {
    table.rows.push_back({word(question.captions[static_cast<std::size_t>(n)]),
                          rounded(match.cosines.at({picture, n}), 3), rounded(match.scores.at({picture, n}), 2),
                          rounded(match.probabilities.at({picture, n})),
                          word(scores.size() > 1 && n == best ? "best" : "")});
  }
  return table;
}

// Where there are several pictures, the one that lies nearest to each caption.
Table nearest_pictures(const MatchQuestion& question, const PairMatch& match) {
  Table table{"The nearest picture of each caption", {"caption", "picture", "cosine"}, {}};
  for (std::size_t n = 0; n < question.captions.size(); ++n) {
    const std::vector<double> cosines = match.cosines.view().select(1, static_cast<std::int64_t>(n)).to_vector();
    const auto best = std::ranges::max_element(cosines);
    table.rows.push_back({word(question.captions[n]),
                          word(question.names[static_cast<std::size_t>(best - cosines.begin())]), rounded(*best, 3)});
  }
  return table;
}

Section match_step(const TwoTower& towers, const MatchQuestion& question, const PairMatch& match) {
  Section step;
  step.id = "match";
  step.title = "Which caption belongs to which picture";
  step.text =
      "Each tower ends in a vector of length 1; the product of two is their cosine, and the logit that times the "
      "learned scale" +
      std::string(towers.options().loss == PairLoss::softmax ? ". " : " plus the learned bias. ") +
      std::string(meaning_of(towers.options().loss));
  step.shape = fmt::format("[pictures, captions] = {}", match.cosines.shape().to_string());
  NamedHeatmap map{.id = "probabilities", .heatmap = {}};
  map.heatmap.title = "Probabilities";
  map.heatmap.values = Tensor(match.probabilities.view().transpose(0, 1));  // captions are long, and read across
  map.heatmap.row_labels = question.captions;
  map.heatmap.column_labels = question.names;
  map.heatmap.row_axis = "caption";
  map.heatmap.column_axis = "picture";
  map.heatmap.value_name = "probability";
  map.heatmap.low = 0;
  map.heatmap.high = 1;
  step.heatmaps.push_back(std::move(map));
  for (std::int64_t picture = 0; picture < match.cosines.dim(0); ++picture) {
    step.tables.push_back(table_of(question, match, picture));
  }
  if (question.pictures.size() > 1) step.tables.push_back(nearest_pictures(question, match));
  return step;
}

std::vector<Section> maps_steps(const TextModel& model, const MatchQuestion& question, const PairMatch& match,
                                std::size_t picture) {
  std::vector<ShownPair> pairs;
  const Tensor image = model.image_of(question.pictures[picture]);
  for (const std::string& caption : question.captions) {
    ShownPair& pair = pairs.emplace_back(model.example_of(caption), caption);
    pair.example.image = image;
  }
  const std::vector<double> scores = match.scores.view().select(0, static_cast<std::int64_t>(picture)).to_vector();
  const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  std::vector<Section> steps = pair_maps_steps(model, pairs, best);
  Section& step = steps[0];
  step.id = fmt::format("maps-{}", picture + 1);
  step.title = fmt::format("What the cosines of {} rest on", question.names[picture]);
  for (NamedHeatmap& map : step.heatmaps) map.id = fmt::format("{}-{}", step.id, map.id);
  Section& words = steps[1];
  words.id = fmt::format("words-{}", picture + 1);
  words.title = fmt::format("{}: {}", question.names[picture], words.title);
  return steps;
}

}  // namespace

Explanation explain_match(const TextModel& model, const MatchQuestion& question, const PairMatch& match) {
  const TwoTower* towers = model.model().parts().towers;
  if (towers == nullptr) {
    throw InvalidArgument(kExplainMatch, "model", "a two-tower model",
                          "one of kind " + std::string(name_of(model.kind())));
  }
  require_fit(question, match);
  Explanation explanation;
  explanation.title = question.title;
  const std::int64_t side = model.lengths().image_side;
  explanation.settings = {{"model parameters", fmt::format("{}", model.model().parameter_count())},
                          {"pixels", fmt::format("{0} × {0}", side)}};
  explanation.steps.push_back(match_step(*towers, question, match));
  for (std::size_t picture = 0; question.maps && picture < question.pictures.size(); ++picture) {
    std::ranges::move(maps_steps(model, question, match, picture), std::back_inserter(explanation.steps));
  }
  int number = 0;
  for (Section& step : explanation.steps) step.number = ++number;
  explanation.tensors = {{"cosines", match.cosines}, {"logits", match.scores}, {"probabilities", match.probabilities}};
  return explanation;
}

}  // namespace qkv
