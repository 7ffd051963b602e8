// What a pair's cosine, or a token of a caption, rests on: attention weighed by its gradient, through all layers; and
// what covering a part of the image does to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/autograd/variable.h"
#include "qkv/model/captioner.h"
#include "qkv/model/two_tower.h"

namespace qkv {

/// How much of a cosine rests on each part of the two, >= 0; of one tower the numbers are comparable with each other.
struct PairRelevance {
  double cosine = 0;
  Tensor patches;  // f64 [rows, columns]: of the image's patches
  Tensor tokens;   // f64 [T]
};

/// Relevance of Chefer et al. 2021 (Generic attention-model explainability, equations 5 and 6), of the cosine: in each
/// tower R = I, and R += A R over its layers, where A is the mean over heads of the positive part of weight times
/// gradient. What is read is the row of what stands for the whole, without the 1 that a place begins with: that of a
/// class token, of the text's end or last place, or the mean of all rows; of a pool by attention A R with its own A.
/// image f32 [3, side, side] as embed_images() reads one, tokens as embed_texts(). Clears the gradients of the
/// parameters. Allocates the T x T matrices. Throws InvalidArgument as these two do.
[[nodiscard]] PairRelevance pair_relevance(const TwoTower& towers, const TensorView& image,
                                           std::span<const std::int32_t> tokens);

/// f64 [T, rows, columns]: how much of the score of said[p] at place p rests on each patch, >= 0, by equations 5, 6 and
/// 8 to 10 of the same paper: R of the patches through the encoder, and of the tokens and from tokens to patches
/// through self-attention and cross-attention of the decoder. Tokens after p do not count at p. said has one token a
/// place. A pass forward and back for each place. Clears, allocates and throws likewise, naming said too.
[[nodiscard]] Tensor caption_relevance(const Captioner& captioner, const TensorView& image,
                                       std::span<const std::int32_t> tokens, std::span<const std::int32_t> said);

/// An image's vector, and its vectors with each patch covered (Zeiler and Fergus 2014, section 4.2) with the median of
/// each channel: of one image for all the texts that it is held against.
class CoveredImage {
 public:
  /// A pass for the image, and for some patches at a time. `towers` is kept by reference. Throws as pair_relevance().
  CoveredImage(const TwoTower& towers, const TensorView& image);
  CoveredImage(TwoTower&&, const TensorView&) = delete;

  /// f64 [rows, columns]: what the cosine with these tokens loses when a patch is covered; below 0 where it gains. A
  /// pass for the text.
  [[nodiscard]] Tensor losses(std::span<const std::int32_t> tokens) const;

  /// f64 [texts, rows, columns]: the part of the cosine that needs a patch and what a text lacks together. `shortened`
  /// are texts with a part of `tokens` left out (Li et al. 2016, Understanding neural networks through representation
  /// erasure). With c(i, t) the cosine of image i and text t it is c(whole, tokens) - c(covered, tokens) -
  /// c(whole, shortened) + c(covered, shortened): a word and a patch that both name one thing have it above 0. A pass
  /// for each text.
  [[nodiscard]] Tensor interaction(std::span<const std::int32_t> tokens,
                                   std::span<const std::vector<std::int32_t>> shortened) const;

 private:
  const TwoTower& towers_;
  std::int64_t across_;  // patches
  Variable hidden_;      // [patches, d]: the vector of the whole image less that of each covered one
};

/// f64 [T, rows, columns]: likewise what the logarithm of the probability of said[p] at place p loses. Throws as
/// caption_relevance().
[[nodiscard]] Tensor caption_occlusion(const Captioner& captioner, const TensorView& image,
                                       std::span<const std::int32_t> tokens, std::span<const std::int32_t> said);

}  // namespace qkv
