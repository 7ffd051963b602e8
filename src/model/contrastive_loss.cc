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
constexpr const char* kPairScores = "pair_scores";

Tensor counted_to(std::int64_t count) {
  Tensor numbers(DType::i64, {count});
  const auto values = numbers.values<std::int64_t>();
  std::iota(values.begin(), values.end(), 0);
  return numbers;
}

void require_scale(std::string_view function, const Variable& log_scale) {
  if (!(log_scale.shape() == Shape{1})) {
    throw InvalidArgument(function, "log_scale", "[1]", log_scale.shape().to_string());
  }
}

// Of each pair two scores, 0 and its own, of which a softmax is a sigmoid.
Variable sigmoid_loss(const Variable& scores) {
  const std::int64_t B = scores.dim(0);
  const Variable own = reshape(scores, {B, B, 1});
  Tensor belongs(DType::i64, {B, B});
  for (std::int64_t b = 0; b < B; ++b) belongs.set({b, b}, 1);
  const Variable none(Tensor(scores.dtype(), {B, B, 1}));
  return static_cast<double>(B) * cross_entropy(concat({none, own}, 2), belongs);
}

}  // namespace

std::string_view name_of(PairLoss loss) noexcept { return loss == PairLoss::softmax ? "softmax" : "sigmoid"; }

Variable pair_scores(const Variable& images, const Variable& texts, const Variable& log_scale, const Variable& bias) {
  if (images.rank() != 2 || texts.rank() != 2 || texts.dim(1) != images.dim(1)) {
    throw InvalidArgument(kPairScores, "texts", "[T, E] with the E of images, " + images.shape().to_string(),
                          texts.shape().to_string());
  }
  require_scale(kPairScores, log_scale);
  const Variable scores = matmul(images, transpose(texts, 0, 1)) * exp(log_scale);
  return bias.empty() ? scores : scores + bias;
}

Variable pair_loss(PairLoss loss, const Variable& scores) {
  if (scores.rank() != 2 || scores.dim(0) != scores.dim(1)) {
    throw InvalidArgument("pair_loss", "scores", "[B, B], of a text for each image", scores.shape().to_string());
  }
  if (loss == PairLoss::sigmoid) return sigmoid_loss(scores);
  const Tensor own = counted_to(scores.dim(0));
  return 0.5 * (cross_entropy(scores, own) + cross_entropy(transpose(scores, 0, 1), own));
}

Variable contrastive_loss(const Variable& images, const Variable& texts, const Variable& log_scale) {
  const OperationScope scope("contrastive_loss");
  if (images.rank() != 2 || !(texts.shape() == images.shape())) {
    throw InvalidArgument(kContrastiveLoss, "texts",
                          "one for each image, [B, E], of the shape " + images.shape().to_string(),
                          texts.shape().to_string());
  }
  require_scale(kContrastiveLoss, log_scale);
  return pair_loss(PairLoss::softmax, pair_scores(images, texts, log_scale));
}

}  // namespace qkv
