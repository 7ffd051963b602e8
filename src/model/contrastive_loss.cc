#include <numeric>

#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/scope.h"
#include "qkv/autograd/shape.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/two_tower.h"

namespace qkv {
namespace {

constexpr const char* kContrastiveLoss = "contrastive_loss";

Tensor counted_to(std::int64_t count) {
  Tensor numbers(DType::i64, {count});
  const auto values = numbers.values<std::int64_t>();
  std::iota(values.begin(), values.end(), 0);
  return numbers;
}

}  // namespace

Variable contrastive_loss(const Variable& images, const Variable& texts, const Variable& log_scale) {
  const OperationScope scope("contrastive_loss");
  if (images.rank() != 2 || !(texts.shape() == images.shape())) {
    throw InvalidArgument(kContrastiveLoss, "texts",
                          "one for each image, [B, E], of the shape " + images.shape().to_string(),
                          texts.shape().to_string());
  }
  if (!(log_scale.shape() == Shape{1})) {
    throw InvalidArgument(kContrastiveLoss, "log_scale", "[1]", log_scale.shape().to_string());
  }
  const Variable scores = matmul(images, transpose(texts, 0, 1)) * exp(log_scale);
  const Tensor own = counted_to(images.dim(0));
  return 0.5 * (cross_entropy(scores, own) + cross_entropy(transpose(scores, 0, 1), own));
}

}  // namespace qkv
