// The oracle's layers with the numbers of the library's.
#pragma once

#include <string>

#include "oracle/transformer.h"
#include "qkv/nn/parameters.h"

namespace qkv::oracle {

/// Each reads the parameters under `prefix`, "" or one that ends in a dot: "blocks.0.attn.". Copies them.
[[nodiscard]] Linear linear_of(const Parameters& parameters, const std::string& prefix);
[[nodiscard]] Norm norm_of(double epsilon, const Parameters& parameters, const std::string& prefix,
                           NormKind kind = NormKind::layer);
[[nodiscard]] FeedForward feed_forward_of(Activation activation, const Parameters& parameters,
                                          const std::string& prefix = {});
[[nodiscard]] MultiHeadAttention attention_of(const MultiHeadOptions& options, const Parameters& parameters,
                                              const std::string& prefix = {});
[[nodiscard]] TransformerBlock block_of(const BlockOptions& options, const Parameters& parameters,
                                        const std::string& prefix = {});
[[nodiscard]] TransformerStack stack_of(const StackOptions& options, const Parameters& parameters);

}  // namespace qkv::oracle
