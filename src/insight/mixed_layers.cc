#include "insight/mixed_layers.h"

#include <array>

#include "insight/text_batch.h"

namespace qkv::insight {
namespace {

void require_square(std::span<const TensorView> layers, std::string_view function) {
  if (layers.empty()) throw InvalidArgument(function, "layers", "one or more", "none");
  const std::int64_t T = layers.front().rank() == 3 ? layers.front().dim(2) : 0;
  for (const TensorView& layer : layers) {
    const bool fits = layer.rank() == 3 && layer.dim(0) > 0 && layer.dim(1) == T && layer.dim(2) == T;
    if (!fits) throw InvalidArgument(function, "layers", "[H, T, T] with one T", layer.shape().to_string());
  }
}

LayerRows mixed_with_residual(const TensorView& layer) {
  const auto T = static_cast<std::size_t>(layer.dim(1));
  LayerRows mixed(T, std::vector<double>(T));
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

}  // namespace

std::vector<LayerRows> mixed_layers(std::span<const TensorView> layers, std::string_view function) {
  require_square(layers, function);
  std::vector<LayerRows> mixed;
  for (const TensorView& layer : layers) mixed.push_back(mixed_with_residual(layer));
  return mixed;
}

std::vector<Tensor> self_attention_of(const Model& model, const HeadText& text, AttentionSite site,
                                      std::string_view function) {
  if (site == AttentionSite::cross || !model.scope_of(site)) {
    throw InvalidArgument(function, "site", "self-attention that the model has", name_of(site));
  }
  const TextBatch batch = batches_of(std::span(&text, 1), 1).front();
  std::vector<Tensor> layers;
  for (const Tensor& layer : model.weights(batch.input(), site)) layers.emplace_back(layer.view().select(0, 0));
  return layers;
}

Tensor matrix_of(const LayerRows& rows) {
  const auto T = static_cast<std::int64_t>(rows.size());
  Tensor matrix(DType::f64, {T, T});
  for (std::int64_t i = 0; i < T; ++i) matrix.store_row(std::array{i}, rows[static_cast<std::size_t>(i)]);
  return matrix;
}

}  // namespace qkv::insight
