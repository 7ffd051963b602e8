#include "qkv/model/two_tower.h"

#include <algorithm>

#include "train/models/makers.h"

namespace qkv::train {
namespace {

std::vector<double> row_of(const TensorView& values, std::int64_t row) { return values.select(0, row).to_vector(); }

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

class TwoTowerModel final : public PairModel {
 public:
  TwoTowerModel(const TwoTowerOptions& options, const Init& init) : towers_(options, init) {}

  [[nodiscard]] Facts facts() const override { return qkv::facts_of(towers_.options()); }
  [[nodiscard]] Parameters parameters() const override { return towers_.parameters(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return qkv::parameter_count(towers_.options()); }

  [[nodiscard]] Variable loss(const TaskBatch& batch, const TaskModelCall& call) const override {
    return towers_.loss(batch.images, {batch.ids, batch.lengths}, call);
  }

  // Which caption of the batch lies nearest to each image; another image's is right where it says the same.
  [[nodiscard]] TaskAccuracy examine(const TaskBatch& batch) const override {
    const NoGradient constant;
    const Variable images = towers_.embed_images(batch.images);
    const Variable texts = towers_.embed_texts({batch.ids, batch.lengths});
    TaskAccuracy total;
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      const std::int64_t nearest = nearest_text(row_of(images.value(), b), texts.value());
      ++total.asked;
      total.right += row_of(batch.ids, nearest) == row_of(batch.ids, b) ? 1 : 0;
    }
    total.loss_places = static_cast<double>(batch.size());
    total.loss_sum = towers_.loss_of_embeddings(images, texts).item() * total.loss_places;
    return total;
  }

  [[nodiscard]] Tensor cosines(const TaskBatch& batch) const override {
    const NoGradient constant;
    const Variable images = towers_.embed_images(batch.images);
    const Variable texts = towers_.embed_texts({batch.ids, batch.lengths});
    std::vector<double> all;
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      all.push_back(cosine(row_of(images.value(), b), row_of(texts.value(), b)));
    }
    return {all, {batch.size()}};
  }

  [[nodiscard]] std::optional<SiteScope> scope_of(AttentionSite site) const override {
    if (site == AttentionSite::cross) return std::nullopt;
    const bool is_image = site == AttentionSite::source;
    return SiteScope{.stack = is_image ? "image." : "text.",
                     .part = "attn",
                     .layers = is_image ? towers_.options().image_layers : towers_.options().text_layers};
  }

 private:
  static std::int64_t nearest_text(const std::vector<double>& image, const TensorView& texts) {
    std::vector<double> cosines;
    for (std::int64_t b = 0; b < texts.dim(0); ++b) cosines.push_back(cosine(image, row_of(texts, b)));
    return std::ranges::max_element(cosines) - cosines.begin();
  }

  TwoTower towers_;
};

MadeModel for_task(const TaskModelOptions& options, const Task& task, const Init& init) {
  const TaskLengths& lengths = task.lengths();
  require_fit(lengths.image_side > 0, options, task, "a task with images");
  return std::make_unique<TwoTowerModel>(TwoTowerOptions{.image_side = lengths.image_side,
                                                                .patch_side = lengths.patch_side,
                                                                .vocabulary = task.vocabulary().size(),
                                                                .length = lengths.tokens,
                                                                .image_layers = options.layers,
                                                                .text_layers = options.layers,
                                                                .d_model = options.d_model,
                                                                .heads = options.heads,
                                                                .d_ff = options.d_ff,
                                                                .positions = options.positions},
                                         init);
}

MadeModel from_facts(const Facts& facts, const Init& init) {
  return std::make_unique<TwoTowerModel>(two_tower_options(facts), init);
}

}  // namespace

ModelMaker two_tower_maker() { return {.for_task = for_task, .from_facts = from_facts}; }

}  // namespace qkv::train
