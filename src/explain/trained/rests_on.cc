#include "explain/trained/rests_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "explain/numbers.h"
#include "explain/trained/sites.h"
#include "qkv/insight/relevance.h"

namespace qkv::explain_detail {
namespace {

constexpr std::string_view kVeil =
    "The less a patch counts, the darker it is drawn; the one that counts most shows as it is. ";

// Of what is lost; what a cover brings is not drawn.
Tensor losses(const TensorView& values) {
  Tensor positive(values);
  for (double& value : positive.values<double>()) value = std::max(0.0, value);
  return positive;
}

// Without the pixels that belong to no patch.
Tensor covered_colours(const TrainedModel& trained, const TaskExample& example) {
  const Tensor colours = trained.colours_of(example.image);
  const auto* towers = std::get_if<TwoTower>(&trained.model().network());
  const std::int64_t side = colours.dim(1) - (towers == nullptr ? 0 : towers->options().image_margin);
  return Tensor(colours.view().slice(1, 0, side).slice(2, 0, side));
}

// One padding is enough for people.
std::size_t shown_tokens(const TrainedModel& trained, const std::vector<std::int32_t>& tokens) {
  std::size_t count = tokens.size();
  const std::optional<std::int64_t> padding = trained.model().tokenizers().padding;
  while (padding && count > 1 && tokens[count - 1] == *padding && tokens[count - 2] == *padding) --count;
  return count;
}

NamedHeatmap strengths(const std::string& id, const std::string& caption, const std::vector<std::string>& tokens,
                       const TensorView& relevance) {
  std::vector<double> shares = relevance.to_vector();
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  shares.resize(tokens.size());
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  NamedHeatmap map{.id = id, .heatmap = {}};
  map.heatmap.title = caption;
  map.heatmap.values = Tensor(shares, {1, std::ssize(shares)});
  map.heatmap.row_labels = {"share"};
  map.heatmap.column_labels = tokens;
  map.heatmap.value_name = "share";
  map.heatmap.low = 0;
  return map;
}

}  // namespace

Section pair_maps_step(const TrainedModel& trained, const std::vector<ShownPair>& pairs) {
  const auto& towers = std::get<TwoTower>(trained.model().network());
  Section step;
  step.id = "rests-on";
  step.title = "What the cosine rests on";
  step.text =
      std::string(kVeil) +
      "Attention: the weights of all layers of the tower, times their gradient where it raises the cosine (Chefer et "
      "al. 2021). Covered: what the cosine loses when the patch is painted with the image's median colour (Zeiler and "
      "Fergus 2014). The tokens have their share of the same relevance in the tower of texts.";
  step.shape = "patches [rows, columns], tokens [T]";
  Table table{"", {"caption", "cosine", "largest loss by a cover"}, {}};
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    const auto& [example, text] = pairs[n];
    const std::string called = pairs.size() > 1 ? fmt::format("{} ", n + 1) : "";  // captions are long
    const Tensor pixels = covered_colours(trained, example);
    PairRelevance relevance = pair_relevance(towers, example.image, example.tokens);
    const Tensor lost = losses(pair_occlusion(towers, example.image, example.tokens));
    step.images.push_back(
        {.title = called + "attention", .pixels = pixels, .weights = relevance.patches, .marked = {}});
    step.images.push_back({.title = called + "covered", .pixels = pixels, .weights = lost, .marked = {}});
    std::vector<std::string> tokens = texts_of(trained.task().vocabulary(), example.tokens);
    tokens.resize(shown_tokens(trained, example.tokens));
    step.heatmaps.push_back(strengths(fmt::format("tokens-{}", n + 1), called + text, tokens, relevance.tokens));
    const std::vector<double> all = lost.view().to_vector();
    table.rows.push_back(
        {word(called + text), rounded(relevance.cosine, 3), rounded(*std::ranges::max_element(all), 3)});
  }
  step.tables.push_back(std::move(table));
  return step;
}

std::vector<Section> caption_maps_steps(const TrainedModel& trained, const SaidTokens& tokens) {
  const auto& captioner = std::get<Captioner>(trained.model().network());
  const TaskExample& example = tokens.example;
  Section covered;
  covered.id = "covered";
  covered.title = "What each token rests on: patches covered";
  covered.text = std::string(kVeil) +
                 "What the logarithm of the token's probability loses when the patch is painted with the image's "
                 "median colour (Zeiler and Fergus 2014).";
  Section relevance;
  relevance.id = "relevance";
  relevance.title = "What each token rests on: attention through all layers";
  relevance.text = std::string(kVeil) +
                   "The weights of all layers of encoder and decoder, times their gradient where it raises the "
                   "token's logit (Chefer et al. 2021).";
  relevance.is_detail = true;
  const Tensor lost = losses(caption_occlusion(captioner, example.image, example.tokens, tokens.said));
  const Tensor rests = caption_relevance(captioner, example.image, example.tokens, tokens.said);
  covered.shape = relevance.shape =
      fmt::format("{} tokens of [rows, columns] = {}", lost.dim(0), Shape{lost.dim(1), lost.dim(2)}.to_string());
  const Tensor pixels = covered_colours(trained, example);
  const std::vector<std::string> at = texts_of(trained.task().vocabulary(), example.tokens);
  const std::vector<std::string> said = texts_of(trained.task().vocabulary(), tokens.said);
  for (std::size_t p = 0; p < at.size(); ++p) {
    const std::string title = fmt::format("{} {} → {}", p, at[p], said[p]);
    const Tensor marked = p < tokens.marked.size() ? tokens.marked[p] : Tensor();
    const auto place = static_cast<std::int64_t>(p);
    covered.images.push_back(
        {.title = title, .pixels = pixels, .weights = Tensor(lost.view().select(0, place)), .marked = marked});
    relevance.images.push_back(
        {.title = title, .pixels = pixels, .weights = Tensor(rests.view().select(0, place)), .marked = marked});
  }
  return {std::move(covered), std::move(relevance)};
}

}  // namespace qkv::explain_detail
