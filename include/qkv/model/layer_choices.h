// What the layers of published families do in other ways than GPT-2's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/nn/attention.h"
#include "qkv/nn/experts.h"
#include "qkv/nn/feed_forward.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"

namespace qkv {

/// Options of the blocks, with the defaults of GPT-2 and BERT.
struct LayerChoices {
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  FeedForwardKind feed_forward = FeedForwardKind::plain;
  double feed_forward_limit = 7;  // of a limited one
  bool feed_forward_bias = true;
  ExpertOptions experts = {};  // of the feed-forward layers, if their count is not 0
  // Of each layer: 1 where the feed-forward layer is one without experts; empty: in none (Qwen 3 MoE).
  std::vector<std::int64_t> without_experts = {};
  bool key_bias = true;                         // of attention's map to k, where that of q has one: Whisper's has none
  std::optional<bool> out_bias = std::nullopt;  // of attention's output map; default: as those of q, k and v
  std::optional<std::int64_t> kv_heads = std::nullopt;  // Hk, a divisor of heads; default: heads
  std::optional<std::int64_t> d_k = std::nullopt;       // D of each head; default: d_model / heads
  std::optional<std::int64_t> d_v = std::nullopt;       // Dv of each head; default: that
  // k and v come from a narrow vector of each token, and the last rotary_dim numbers of each head turn: DeepSeek.
  LatentOptions latent = {};
  // The epsilon of an RMSNorm of each head's q and k (Qwen 3), which is rms_plus_one if `norm` is (Gemma 3).
  std::optional<double> qk_norm = std::nullopt;
  bool qk_norm_of_all = false;                   // over the heads of a token together (OLMo 2)
  std::optional<double> scale = std::nullopt;    // of the scores; default: 1 / sqrt(D)
  std::optional<double> softcap = std::nullopt;  // of the scores: Gemma 2
  bool sinks = false;                            // a learned score of each head that no key has: gpt-oss
  double rotary_base = 10000;                    // of rotary positions
  RotaryScaling rotary_scaling = {};             // likewise
  // How many numbers of each head turn, its first ones; default: all (GPT-NeoX turns a quarter).
  std::optional<std::int64_t> rotary_dim = std::nullopt;
  RotaryLayout rotary_layout = RotaryLayout::half_split;
  // Of layers with a window, which then have a scaling of their own, too: Gemma 3.
  std::optional<double> local_rotary_base = std::nullopt;
  RotaryScaling local_rotary_scaling = {};  // of them, if they have a base of their own
  std::int64_t t5_buckets = 32;             // of T5's positions
  std::int64_t t5_max_distance = 128;       // likewise
  // Of each layer: keys that a query sees, 0 for all; empty: all in every layer.
  std::vector<std::int64_t> windows = {};
  // Of each layer: 1 where q and k do not turn, 0 where they do; empty: they turn in every layer (SmolLM3).
  std::vector<std::int64_t> unturned = {};
  std::vector<double> alibi_slopes = {};  // [heads], of ALiBi; empty: alibi_slopes() of them
  std::optional<double> residual_scale =
      std::nullopt;              // of what each sublayer adds to the stream; default: 1 (Granite)
  bool first_norm = true;        // before the first attention, of an order with norms before (ModernBERT has none)
  bool one_block = false;        // every layer is the first one, with its parameters: ALBERT
  bool t5_beside = false;        // T5's buckets beside positions of another kind: MPNet
  bool sines_in_halves = false;  // of sinusoidal positions: all sines, then all cosines, added as they are (Marian)

  bool operator==(const LayerChoices&) const = default;
};

}  // namespace qkv
