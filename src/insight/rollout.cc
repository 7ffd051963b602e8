#include "qkv/insight/rollout.h"

#include "core/watched.h"
#include "insight/mixed_layers.h"

namespace qkv {
namespace {

constexpr const char* kRollout = "attention_rollout";

using insight::LayerRows;

LayerRows product_of(const LayerRows& a, const LayerRows& b) {
  const std::size_t T = a.size();
  LayerRows product(T, std::vector<double>(T));
  for (std::size_t i = 0; i < T; ++i) {
    core::look();
    for (std::size_t k = 0; k < T; ++k) {
      for (std::size_t j = 0; j < T; ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

}  // namespace

std::vector<Tensor> attention_rollout(std::span<const TensorView> layers) {
  std::vector<Tensor> all;
  LayerRows through;
  for (LayerRows& mixed : insight::mixed_layers(layers, kRollout)) {
    through = through.empty() ? std::move(mixed) : product_of(mixed, through);
    all.push_back(insight::matrix_of(through));
  }
  return all;
}

std::vector<Tensor> attention_rollout(const Model& model, const HeadText& text, AttentionSite site) {
  const std::vector<Tensor> weights = insight::self_attention_of(model, text, site, kRollout);
  return attention_rollout(std::vector<TensorView>(weights.begin(), weights.end()));
}

}  // namespace qkv
