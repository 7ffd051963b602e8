// Examples side by side, as a model reads them, and what a model makes of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/model/examples.h"
#include "qkv/model/model.h"

namespace qkv {

enum class BatchLayout : std::uint8_t {
  apart,   // source and tokens each in a tensor of its own
  joined,  // one text: the source, and then the tokens
};

/// B examples, the shorter ones padded at their end with token 0.
struct Batch {
  BatchLayout layout = BatchLayout::apart;
  Tensor ids;                                // i64 [B, T]
  Tensor targets;                            // i64 [B, T]: the expected token at each place, -100 if nothing is asked
  Tensor scored;                             // i64 [B, T]: 1 where the answer counts in the accuracy
  std::vector<std::int64_t> lengths;         // of each row of ids
  Tensor source;                             // i64 [B, S]; empty if there is none of its own
  std::vector<std::int64_t> source_lengths;  // of each example's source, in whichever tensor it is; 0 without
  Tensor images;                             // f32 [B, 3, side, side]; empty if there are none
  Tensor sounds = {};                        // f32 [B, bins, frames]; likewise
  std::int64_t patches = 0;                  // of an image
  std::int64_t tokens = 0;                   // read: of texts without their padding, and patches

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(lengths.size()); }
};

/// What a kind of model reads: a decoder has one text.
[[nodiscard]] BatchLayout layout_for(ModelKind kind) noexcept;

/// Views of the batch, which must outlive them; no ids where no example has tokens.
[[nodiscard]] ModelInput input_of(const Batch& batch);

/// The targets of nothing, which cross_entropy() leaves out.
inline constexpr std::int64_t kNothingAsked = -100;

/// In a joined batch the source's tokens are numbered after those of the answers, where their vocabularies differ.
[[nodiscard]] std::int64_t joined_source_offset(const Examples& from);

/// Throws InvalidArgument naming examples if there are none.
[[nodiscard]] Batch batch_of(const Examples& from, std::span<const Example> examples, BatchLayout layout);

/// The weights [H, Tq, Tk] of example b at `site` (of an image, its patches are the source), without padding, out of
/// those of the whole batch, [B, H, Tq, Tk].
[[nodiscard]] TensorView weights_of_example(const Batch& batch, std::int64_t b, AttentionSite site,
                                            const TensorView& weights);

/// Of rank 0: the mean over what the batch asks; of two towers their contrastive loss.
[[nodiscard]] Variable batch_loss(const Model& model, const Batch& batch, const ModelCall& call = {});
/// f64 [B]: the cosine of image n and text n of the batch. Throws InvalidArgument for a model without two towers.
[[nodiscard]] Tensor batch_cosines(const Model& model, const Batch& batch);

}  // namespace qkv
