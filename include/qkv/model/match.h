// Pictures and texts held against each other by two towers: cosines, scores and probabilities.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "qkv/model/text_model.h"

namespace qkv {

/// I pictures and T texts.
struct PairMatch {
  Tensor images;   // f32 [I, d_embedding], of length 1
  Tensor texts;    // f32 [T, d_embedding], of length 1
  Tensor cosines;  // f64 [I, T]
  Tensor scores;   // f64 [I, T]: TwoTower::scores()
  /// f64 [I, T]. By PairLoss::softmax (CLIP) that each text is the one of the image, if exactly one of them is: rows
  /// sum to 1. By PairLoss::sigmoid (SigLIP) that text and image belong together, each pair by itself.
  Tensor probabilities;
};

/// pictures u8 [H, W, 3] of any sizes, brought to the model's own by TextModel::image_of(); texts in UTF-8. One pass
/// an image and one a text, so that no result depends on the others. Throws InvalidArgument naming model if it is no
/// two-tower model, pictures[n], or texts[n]; Error as TextModel::image_of().
[[nodiscard]] PairMatch match_pairs(const TextModel& model, std::span<const Tensor> pictures,
                                    std::span<const std::string> texts);

/// The texts alone: f32 [T, d_embedding], by an encoder that computes in `dtype`. Throws as match_pairs().
[[nodiscard]] Tensor embed_texts(const TextModel& model, std::span<const std::string> texts,
                                 std::optional<DType> dtype = std::nullopt);

}  // namespace qkv
