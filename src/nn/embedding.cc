#include "qkv/nn/embedding.h"

#include <utility>

#include "nn/require.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"

namespace qkv {
namespace {

Shape shape_of(const EmbeddingOptions& options) {
  nn::require_positive("Embedding", "count", options.count);
  nn::require_positive("Embedding", "width", options.width);
  nn::require_positive("Embedding", "deviation", options.deviation);
  return {options.count, options.width};
}

}  // namespace

Embedding::Embedding(const EmbeddingOptions& options, const Init& init)
    : weight_(init.normal(shape_of(options), options.deviation, options.dtype)) {}

Embedding::Embedding(Variable weight) : weight_(std::move(weight)) {
  nn::require_table("Embedding", "weight", weight_.shape(), weight_.dtype());
}

Variable Embedding::forward(const TensorView& ids, DType dtype) const { return cast(embedding(weight_, ids), dtype); }

Variable Embedding::logits(const Variable& x) const { return linear(x, weight_); }

}  // namespace qkv
