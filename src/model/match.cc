#include "qkv/model/match.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/said_of.h"
#include "model/require_finite.h"
#include "qkv/softmax.h"

namespace qkv {
namespace {

constexpr const char* kMatch = "match_pairs";

const TwoTower& towers_of(const TextModel& model) {
  if (const TwoTower* towers = model.model().parts().towers) return *towers;
  throw InvalidArgument(kMatch, "model", "a two-tower model", "one of kind " + std::string(name_of(model.kind())));
}

std::string numbered(const char* name, std::size_t n) { return std::string(name) + "[" + std::to_string(n) + "]"; }

// A row [d_embedding] for each of them; none: [0, d_embedding].
template <class Embed>
Tensor rows_of(const TwoTower& towers, const char* name, std::size_t count, const Embed& embed) {
  const NoGradient constant;
  const TwoTowerOptions& options = towers.options();
  Tensor rows(DType::f32, {static_cast<std::int64_t>(count), options.d_embedding.value_or(options.d_model)});
  for (std::size_t n = 0; n < count; ++n) {
    const Variable row = core::said_of(kMatch, numbered(name, n), [&] { return embed(n); });
    std::ranges::copy(row.value().to_vector(),
                      rows.values<float>().begin() + static_cast<std::int64_t>(n) * rows.dim(1));
  }
  return rows;
}

Tensor images_of(const TextModel& model, const TwoTower& towers, std::span<const Tensor> pictures) {
  return rows_of(towers, "pictures", pictures.size(), [&](std::size_t n) {
    const Tensor image = model.image_of(pictures[n]);
    return towers.embed_images(image.reshape({1, image.dim(0), image.dim(1), image.dim(2)}));
  });
}

Tensor probabilities_of(PairLoss loss, const Tensor& scores) {
  if (loss == PairLoss::softmax) return softmax(scores, -1);
  Tensor probabilities(scores.view(), DType::f64);
  for (double& score : probabilities.values<double>()) score = 1 / (1 + std::exp(-score));
  return probabilities;
}

}  // namespace

Tensor embed_texts(const TextModel& model, std::span<const std::string> texts, std::optional<DType> dtype) {
  const TwoTower& towers = towers_of(model);
  return rows_of(towers, "texts", texts.size(), [&](std::size_t n) {
    const std::vector<std::int32_t> tokens = model.example_of(texts[n]).tokens;
    const std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
    const Tensor row(ids, {1, std::ssize(ids)});
    return towers.embed_texts({.ids = row}, {.dtype = dtype});
  });
}

PairMatch match_pairs(const TextModel& model, std::span<const Tensor> pictures, std::span<const std::string> texts) {
  const TwoTower& towers = towers_of(model);
  PairMatch match{.images = images_of(model, towers, pictures),
                  .texts = embed_texts(model, texts),
                  .cosines = {},
                  .scores = {},
                  .probabilities = {}};
  const NoGradient constant;
  const Variable images(Tensor(match.images.view(), DType::f64));
  const Variable embedded(Tensor(match.texts.view(), DType::f64));
  match.cosines = Tensor(pair_scores(images, embedded, Variable(Tensor(DType::f64, {1}))).value());
  match.scores = Tensor(towers.scores(images, embedded).value());
  require_numbers(model.model(), kMatch, "the scores of the pairs", match.scores.to_vector());
  match.probabilities = probabilities_of(towers.options().loss, match.scores);
  return match;
}

}  // namespace qkv
