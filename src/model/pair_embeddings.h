// What both towers make of a batch.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "qkv/model/batch.h"

namespace qkv {

struct PairEmbeddings {
  Variable images;
  Variable texts;

  PairEmbeddings(const TwoTower& towers, const Batch& batch)
      : images(towers.embed_images(batch.images)), texts(towers.embed_texts({batch.ids, batch.lengths})) {}

  [[nodiscard]] double cosine(std::int64_t image, std::int64_t text) const {
    const std::vector<double> a = images.value().select(0, image).to_vector();
    const std::vector<double> b = texts.value().select(0, text).to_vector();
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
};

}  // namespace qkv
