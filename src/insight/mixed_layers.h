// Layers of self-attention with the residual stream beside them: what rollout and flow follow.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "qkv/insight/heads.h"

namespace qkv::insight {

using LayerRows = std::vector<std::vector<double>>;  // [T][T]

/// Of each layer half the mean over heads and half the identity. Throws InvalidArgument naming layers of `function` if
/// there are none, or one is not [H, T, T].
[[nodiscard]] std::vector<LayerRows> mixed_layers(std::span<const TensorView> layers, std::string_view function);

/// The weights of one text in each layer of a site, [H, T, T]. Throws InvalidArgument naming site of `function` for
/// cross-attention and for a site that the model does not have.
[[nodiscard]] std::vector<Tensor> self_attention_of(const Model& model, const HeadText& text, AttentionSite site,
                                                    std::string_view function);

[[nodiscard]] Tensor matrix_of(const LayerRows& rows);

}  // namespace qkv::insight
