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

double largest(const TensorView& map) { return std::ranges::max(map.to_vector()); }

// One padding stands for all.
std::size_t shown_tokens(const TextModel& trained, const std::vector<std::int32_t>& tokens) {
  std::size_t count = tokens.size();
  const std::optional<std::int64_t> padding = trained.model().tokenizers().padding;
  while (padding && count > 1 && tokens[count - 1] == *padding && tokens[count - 2] == *padding) --count;
  return count;
}

// Where a text has words, not marks that a task or a tokenizer puts around it.
std::vector<std::size_t> word_places(const TextModel& trained, const ShownPair& pair) {
  const Tokenizer& vocabulary = trained.tokenizer();
  std::vector<std::size_t> places;
  if (pair.example.tokens.size() < 2) return places;  // without its only token nothing is left
  if (trained.has_task()) {
    for (std::size_t p = 0; p < pair.example.tokens.size(); ++p) {
      if (vocabulary.piece(pair.example.tokens[p]) != "<s>") places.push_back(p);
    }
    return places;
  }
  const std::vector<TokenSource> sources = vocabulary.encode(pair.text).sources;
  for (std::size_t p = 0; p < sources.size(); ++p) {
    if (sources[p] == TokenSource::text) places.push_back(p);
  }
  return places;
}

// The text without the token at each place, as long as before where it is padded.
std::vector<std::vector<std::int32_t>> without_each(const TextModel& trained, const std::vector<std::int32_t>& tokens,
                                                    const std::vector<std::size_t>& places) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::size_t place : places) {
    std::vector<std::int32_t> text = tokens;
    text.erase(text.begin() + static_cast<std::ptrdiff_t>(place));
    all.push_back(trained.model().padded(std::move(text)));
  }
  return all;
}

// The patches of a pattern whose answer is the token at this place.
Tensor marks_at(const Example& example, std::size_t place, const Shape& patches) {
  Tensor marked;
  for (const std::vector<PatternRow>& relation : example.patterns) {
    for (const PatternRow& row : relation) {
      if (static_cast<std::size_t>(row.query) + 1 != place) continue;
      if (marked.empty()) marked = Tensor(DType::b8, patches);
      for (const std::int64_t key : row.keys) marked.values<bool>()[static_cast<std::size_t>(key)] = true;
    }
  }
  return marked;
}

NamedHeatmap strengths(const std::string& id, const std::string& caption, const std::vector<std::string>& tokens,
                       const TensorView& relevance) {
  std::vector<double> shares = relevance.to_vector();
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  shares[tokens.size() - 1] = std::accumulate(shares.begin() + std::ssize(tokens) - 1, shares.end(), 0.0);
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

Section pairs_step(const TextModel& trained, const std::vector<ShownPair>& pairs, const CoveredImage& covered) {
  const TwoTower& towers = *trained.model().parts().towers;
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
    const Tensor lost = losses(covered.losses(example.tokens));
    step.images.push_back(
        {.title = called + "attention", .pixels = pixels, .weights = relevance.patches, .marked = {}});
    step.images.push_back({.title = called + "covered", .pixels = pixels, .weights = lost, .marked = {}});
    std::vector<std::string> tokens = texts_of(trained.tokenizer(), example.tokens);
    tokens.resize(shown_tokens(trained, example.tokens));
    step.heatmaps.push_back(strengths(fmt::format("tokens-{}", n + 1), called + text, tokens, relevance.tokens));
    table.rows.push_back({word(called + text), rounded(relevance.cosine, 3), rounded(largest(lost), 3)});
  }
  step.tables.push_back(std::move(table));
  return step;
}

Section words_step(const TextModel& trained, const ShownPair& pair, const CoveredImage& covered) {
  const Example& example = pair.example;
  const std::vector<std::size_t> places = word_places(trained, pair);
  const Tensor both = losses(covered.interaction(example.tokens, without_each(trained, example.tokens, places)));
  const std::vector<std::string> tokens = texts_of(trained.tokenizer(), example.tokens);
  Section step;
  step.id = "words";
  step.title = fmt::format("Where each word of “{}” is seen", pair.text);
  step.text =
      std::string(kVeil) +
      "The part of the cosine that needs patch and word together: what a cover of the patch costs the whole caption, "
      "less what it costs the caption without the word. In parentheses stands the largest value.";
  step.shape =
      fmt::format("{} words of [rows, columns] = {}", places.size(), Shape{both.dim(1), both.dim(2)}.to_string());
  const Tensor pixels = covered_colours(trained, example);
  bool has_marks = false;
  for (std::size_t n = 0; n < places.size(); ++n) {
    const Tensor map(both.view().select(0, static_cast<std::int64_t>(n)));
    Tensor marked = marks_at(example, places[n], Shape{both.dim(1), both.dim(2)});
    has_marks = has_marks || !marked.empty();
    step.images.push_back({.title = fmt::format("{} {} ({:.2f})", places[n], tokens[places[n]], largest(map)),
                           .pixels = pixels,
                           .weights = map,
                           .marked = std::move(marked)});
  }
  if (has_marks) step.text += " Outlined (in a terminal: beside it) are the patches of what the word names.";
  return step;
}

}  // namespace

Tensor covered_colours(const TextModel& trained, const Example& example) {
  const Tensor colours = trained.colours_of(example.image);
  const TwoTower* towers = trained.model().parts().towers;
  const std::int64_t side = colours.dim(1) - (towers == nullptr ? 0 : towers->options().image_margin);
  return Tensor(colours.view().slice(1, 0, side).slice(2, 0, side));
}

std::vector<Section> pair_maps_steps(const TextModel& trained, const std::vector<ShownPair>& pairs,
                                     std::size_t worded) {
  const CoveredImage covered(*trained.model().parts().towers, pairs.front().example.image);
  return {pairs_step(trained, pairs, covered), words_step(trained, pairs[worded], covered)};
}

std::vector<Section> caption_maps_steps(const TextModel& trained, const SaidTokens& tokens) {
  const Captioner& captioner = *trained.model().parts().captioner;
  const Example& example = tokens.example;
  Section covered;
  covered.id = "covered";
  covered.title = "What each token rests on: patches covered";
  covered.text = std::string(kVeil) +
                 "What the logarithm of the token's probability loses when the patch is painted with the image's "
                 "median colour (Zeiler and Fergus 2014). In parentheses stands the largest loss.";
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
  const std::vector<std::string> at = texts_of(trained.tokenizer(), example.tokens);
  const std::vector<std::string> said = texts_of(trained.tokenizer(), tokens.said);
  for (std::size_t p = 0; p < at.size(); ++p) {
    const std::string title = fmt::format("{} {} → {}", p, at[p], said[p]);
    const Tensor marked = p < tokens.marked.size() ? tokens.marked[p] : Tensor();
    const auto place = static_cast<std::int64_t>(p);
    const Tensor map(lost.view().select(0, place));
    covered.images.push_back(
        {.title = fmt::format("{} ({:.2f})", title, largest(map)), .pixels = pixels, .weights = map, .marked = marked});
    relevance.images.push_back(
        {.title = title, .pixels = pixels, .weights = Tensor(rests.view().select(0, place)), .marked = marked});
  }
  return {std::move(covered), std::move(relevance)};
}

}  // namespace qkv::explain_detail
