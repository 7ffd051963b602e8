#include "qkv/insight/rollout.h"

#include <array>

#include "insight/text_batch.h"

namespace qkv {
namespace {

constexpr const char* kRollout = "attention_rollout";

using Rows = std::vector<std::vector<double>>;  // [T][T]

void require_square(std::span<const TensorView> layers) {
  if (layers.empty()) throw InvalidArgument(kRollout, "layers", "one or more", "none");
  const std::int64_t T = layers.front().rank() == 3 ? layers.front().dim(2) : 0;
  for (const TensorView& layer : layers) {
    const bool fits = layer.rank() == 3 && layer.dim(0) > 0 && layer.dim(1) == T && layer.dim(2) == T;
    if (!fits) throw InvalidArgument(kRollout, "layers", "[H, T, T] with one T", layer.shape().to_string());
  }
}

// Half the mean over heads, half the identity.
Rows mixed_with_residual(const TensorView& layer) {
  const auto T = static_cast<std::size_t>(layer.dim(1));
  Rows mixed(T, std::vector<double>(T));
  std::vector<double> row(T);
  for (std::int64_t i = 0; i < layer.dim(1); ++i) {
    std::vector<double>& to = mixed[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < layer.dim(0); ++h) {
      layer.load_row(std::array{h, i}, row);
      for (std::size_t j = 0; j < T; ++j) to[j] += 0.5 * row[j] / static_cast<double>(layer.dim(0));
    }
    to[static_cast<std::size_t>(i)] += 0.5;
  }
  return mixed;
}

Rows product_of(const Rows& a, const Rows& b) {
  const std::size_t T = a.size();
  Rows product(T, std::vector<double>(T));
  for (std::size_t i = 0; i < T; ++i) {
    for (std::size_t k = 0; k < T; ++k) {
      for (std::size_t j = 0; j < T; ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

Tensor matrix_of(const Rows& rows) {
  const auto T = static_cast<std::int64_t>(rows.size());
  Tensor matrix(DType::f64, {T, T});
  for (std::int64_t i = 0; i < T; ++i) matrix.store_row(std::array{i}, rows[static_cast<std::size_t>(i)]);
  return matrix;
}

}  // namespace

std::vector<Tensor> attention_rollout(std::span<const TensorView> layers) {
  require_square(layers);
  std::vector<Tensor> all;
  Rows through;
  for (const TensorView& layer : layers) {
    Rows mixed = mixed_with_residual(layer);
    through = through.empty() ? std::move(mixed) : product_of(mixed, through);
    all.push_back(matrix_of(through));
  }
  return all;
}

std::vector<Tensor> attention_rollout(const Model& model, const HeadText& text, AttentionSite site) {
  if (site == AttentionSite::cross || !model.scope_of(site)) {
    throw InvalidArgument(kRollout, "site", "self-attention that the model has", name_of(site));
  }
  const insight::TextBatch batch = insight::batches_of(std::span(&text, 1), 1).front();
  const std::vector<Tensor> weights = model.weights(batch.input(), site);
  std::vector<TensorView> layers;
  for (const Tensor& layer : weights) layers.push_back(layer.view().select(0, 0));
  return attention_rollout(layers);
}

}  // namespace qkv
