// What the layers of published families do in other ways than GPT-2's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/nn/attention.h"
#include "qkv/nn/feed_forward.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"

namespace qkv {

/// Options of the blocks, with the defaults of GPT-2 and BERT.
struct LayerChoices {
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  FeedForwardKind feed_forward = FeedForwardKind::plain;
  bool feed_forward_bias = true;
  std::optional<bool> out_bias = std::nullopt;          // of attention's output map; default: as those of q, k and v
  std::optional<std::int64_t> kv_heads = std::nullopt;  // Hk, a divisor of heads; default: heads
  std::optional<std::int64_t> d_k = std::nullopt;       // D of each head, and Dv; default: d_model / heads
  std::optional<double> qk_norm = std::nullopt;         // the epsilon of an RMSNorm of each head's q and k: Qwen 3
  double rotary_base = 10000;                           // of rotary positions
  RotaryScaling rotary_scaling = {};                    // likewise
  std::vector<std::int64_t> windows =
      {};  // of each layer: keys that a query sees, 0 for all; empty: all in every layer

  bool operator==(const LayerChoices&) const = default;
};

}  // namespace qkv
