// Embeddings: rows of a table, looked up by id.
#pragma once

#include <cstdint>

#include "qkv/nn/init.h"
#include "qkv/nn/parameters.h"

namespace qkv {

struct EmbeddingOptions {
  std::int64_t count = 0;
  std::int64_t width = 0;
  double deviation = 0.02;  // standard deviation of the drawn weights, as in GPT-2: logits() start near 0
  DType dtype = DType::f32;
};

/// A learned vector for each id of a token, a position or a segment. Parameter: weight [count, width].
class Embedding {
 public:
  /// Draws normal numbers. Throws InvalidArgument naming count, width, deviation or dtype.
  Embedding(const EmbeddingOptions& options, const Init& init);
  /// A table [count, width]. Throws InvalidArgument naming weight.
  explicit Embedding(Variable weight);

  /// Ids [...] of i64 or i32 -> [..., width] in `dtype`. Throws InvalidArgument naming ids and the id out of
  /// range.
  [[nodiscard]] Variable forward(const TensorView& ids, DType dtype = DType::f32) const;
  /// x [..., width] times each row, [..., count]: the output of a model with tied embeddings (Press and Wolf
  /// 2017).
  [[nodiscard]] Variable logits(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const { return {{"weight", weight_}}; }

  [[nodiscard]] std::int64_t count() const { return weight_.dim(0); }
  [[nodiscard]] std::int64_t width() const { return weight_.dim(1); }
  [[nodiscard]] DType dtype() const { return weight_.dtype(); }
  [[nodiscard]] const Variable& weight() const noexcept { return weight_; }

 private:
  Variable weight_;
};

}  // namespace qkv
