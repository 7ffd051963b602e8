// What a caption's cosine with an image, or each token that a captioner says, rests on: maps over the image in its own
// colours, and strengths of tokens.
#pragma once

#include <string>
#include <vector>

#include "qkv/explain.h"
#include "qkv/model/text_model.h"

namespace qkv::explain_detail {

/// A caption beside the image of the example, `text` as people read it.
struct ShownPair {
  Example example;
  std::string text;
};

/// The image for people, without the pixels that belong to no patch.
[[nodiscard]] Tensor covered_colours(const TextModel& trained, const Example& example);

/// Two steps of captions of one image. "rests-on": for each caption the image under relevance, and under what the
/// cosine loses when a patch is covered; the strengths of its tokens. "words": for each word of caption `worded` the
/// image under the part of the cosine that needs patch and word together; outlined are the patches of a pattern that
/// the word belongs to, if the example has any.
[[nodiscard]] std::vector<Section> pair_maps_steps(const TextModel& trained, const std::vector<ShownPair>& pairs,
                                                   std::size_t worded);

/// For each token that the captioner says at a place of the example, `said` of the vocabulary: the image under what the
/// token loses when a patch is covered, and under relevance. Patches in `marked`, b8 [rows, columns] a place or empty,
/// are outlined.
struct SaidTokens {
  const Example& example;
  std::vector<std::int32_t> said;
  std::vector<Tensor> marked;
};
[[nodiscard]] std::vector<Section> caption_maps_steps(const TextModel& trained, const SaidTokens& tokens);

}  // namespace qkv::explain_detail
