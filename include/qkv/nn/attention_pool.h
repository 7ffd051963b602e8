// One vector of a sequence by attention: a learned query reads all of it.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/nn/attention.h"
#include "qkv/nn/feed_forward.h"
#include "qkv/nn/norm.h"

namespace qkv {

struct AttentionPoolOptions {
  std::int64_t d_model = 0;
  std::int64_t heads = 1;
  std::optional<std::int64_t> d_ff = std::nullopt;  // default: 4 * d_model
  Activation activation = Activation::gelu;
  double epsilon = 1e-5;
  DType dtype = DType::f32;
};

/// a = attention of the query over x, then a + feed_forward(norm(a)) (Lee et al. 2019, section 3.2, as in SigLIP).
/// Parameters: query.weight [d_model], attn.*, ln.*, ffn.*. A trace sees attn.*, attn, ln, ffn.*, ffn.
class AttentionPool {
 public:
  /// Draws the query, normal of deviation 1 / sqrt(d_model), attention and feed-forward in this order. Throws
  /// InvalidArgument naming the option.
  AttentionPool(const AttentionPoolOptions& options, const Init& init);

  /// x [B, T, d_model] -> [B, d_model] in the dtype of x. Throws InvalidArgument naming x.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;

 private:
  Variable query_;
  MultiHeadAttention attention_;
  Norm norm_;
  FeedForward feed_forward_;
};

}  // namespace qkv
