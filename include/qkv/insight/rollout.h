// How attention passes from the last layer through all others down to the tokens of a text.
#pragma once

#include <span>
#include <vector>

#include "qkv/insight/heads.h"

namespace qkv {

/// Attention rollout (Abnar and Zuidema 2020, section 3): R_l = A_l R_{l-1}, where A_l is half the mean over heads and
/// half the identity, which stands for the residual stream. layers[l] is [H, T, T], floating, any strides, the lowest
/// first. Gives R_l of each layer, f64 [T, T]; its rows sum to 1 where those of the weights do. Throws InvalidArgument
/// naming layers if there are none or one has another shape. Allocates T x T for each layer.
[[nodiscard]] std::vector<Tensor> attention_rollout(std::span<const TensorView> layers);

/// The same of one text by a model's self-attention over `site`. Throws InvalidArgument naming site for
/// AttentionSite::cross and for a site that the model does not have, and as the model does.
[[nodiscard]] std::vector<Tensor> attention_rollout(const Model& model, const HeadText& text,
                                                    AttentionSite site = AttentionSite::tokens);

/// Attention flow (Abnar and Zuidema 2020, section 3.2): A_l of each layer as the capacities of pipes from each place
/// to those below it; cell (i, j) is the largest flow from place i of the last layer to token j, f64 [T, T]. A path is
/// no wider than its narrowest layer, where rollout multiplies; rows do not sum to 1. Up to what 1e-12 of a weight
/// makes. Throws as attention_rollout(). Takes T² flows through O(layers T²) pipes: for texts of up to a few dozen
/// tokens.
[[nodiscard]] Tensor attention_flow(std::span<const TensorView> layers);
/// The same of one text.
[[nodiscard]] Tensor attention_flow(const Model& model, const HeadText& text,
                                    AttentionSite site = AttentionSite::tokens);

}  // namespace qkv
