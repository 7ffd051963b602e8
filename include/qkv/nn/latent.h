// Latent attention: keys and values from one narrow vector of each token (DeepSeek-AI 2024, DeepSeek-V2, section 2.1).
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/nn/linear.h"
#include "qkv/nn/norm.h"

namespace qkv {

struct LatentOptions {
  std::int64_t kv_rank = 0;                           // numbers of that vector; 0: there is none
  std::optional<std::int64_t> q_rank = std::nullopt;  // queries come from one of their own, too
  double epsilon = 1e-6;                              // of the RMSNorm of each

  bool operator==(const LatentOptions&) const = default;
};

/// What the maps of a layer with latent keys have in common.
struct LatentSizes {
  std::int64_t d_model = 0;
  std::int64_t heads = 1;
  std::int64_t d_k = 0;  // of each head, its last `turned` numbers among them
  std::int64_t d_v = 0;
  std::int64_t turned = 0;  // of a key the numbers that rotary turns: of each token the same in all heads
  bool bias = false;        // of the maps to the narrow vectors
};

/// The narrow vector c = norm(x * W) and the part of keys that turns, both from one map; of each head its own part of
/// the key and the value, from one map of c.
///
/// Parameters: latent.*, rows of c and then of the turned part; latent_norm.weight; kv.weight, of each head the rows of
/// its key, then of its value. A trace sees latent [B, T, kv_rank + turned], latent_norm [B, T, kv_rank] and
/// kv [B, T, heads * (d_k - turned + d_v)].
class LatentKeys {
 public:
  /// Draws latent, then kv. Throws InvalidArgument naming latent.kv_rank, or rotary where nothing turns, or all.
  LatentKeys(const LatentOptions& options, const LatentSizes& sizes, const Init& init, DType dtype);

  struct KeysAndValues {
    Variable k;  // [B, heads, T, d_k], not turned
    Variable v;  // [B, heads, T, d_v]
  };
  /// Of x [B, T, d_model]. Allocates what it gives, and the results of its maps.
  [[nodiscard]] KeysAndValues forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

 private:
  LatentSizes sizes_;
  Linear down_;
  Norm norm_;
  Linear up_;
};

/// norm(x * W), from which queries come. Parameters: q_latent.*, q_latent_norm.weight.
class LatentQueries {
 public:
  /// Throws InvalidArgument naming latent.q_rank.
  LatentQueries(const LatentOptions& options, const LatentSizes& sizes, const Init& init, DType dtype);

  /// x [B, T, d_model] -> [B, T, q_rank]. A trace sees q_latent and q_latent_norm.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

 private:
  Linear down_;
  Norm norm_;
};

}  // namespace qkv
