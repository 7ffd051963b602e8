#include <array>
#include <limits>
#include <random>

#include "cases/case.h"

namespace qkv::cases {
namespace {

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  Tensor tensor(DType::f64, shape);
  for (double& value : tensor.values<double>()) value = draw(engine);
  return tensor.to(dtype);
}

// A fifth of the pairs are forbidden.
Tensor with_infinities(Tensor tensor, std::uint64_t seed) {
  std::mt19937_64 engine(seed + 1);
  std::bernoulli_distribution forbids(0.2);
  for (float& value : tensor.values<float>()) {
    if (forbids(engine)) value = -std::numeric_limits<float>::infinity();
  }
  return tensor;
}

const std::array kBiases = std::to_array<Named<Bias>>({
    {"zero", [](const MaskShape&, std::uint64_t) { return Bias(); }},
    {"alibi", [](const MaskShape&, std::uint64_t) { return alibi(); }},
    {"alibi_top_left", [](const MaskShape&, std::uint64_t) { return alibi(Align::top_left); }},
    {"t5", [](const MaskShape& shape, std::uint64_t seed) { return t5_bias(normal({32, shape.H}, seed)); }},
    {"t5_one_sided",
     [](const MaskShape& shape, std::uint64_t seed) {
       return t5_bias(normal({8, shape.H}, seed), {.buckets = 8, .max_distance = 50, .bidirectional = false});
     }},
    {"dense", [](const MaskShape& shape,
                 std::uint64_t seed) { return dense_bias(normal({shape.B, shape.H, shape.Tq, shape.Tk}, seed)); }},
    {"dense_shared", [](const MaskShape& shape,
                        std::uint64_t seed) { return dense_bias(normal({shape.Tq, shape.Tk}, seed, DType::bf16)); }},
    {"dense_by_key",
     [](const MaskShape& shape, std::uint64_t seed) { return dense_bias(normal({shape.B, 1, 1, shape.Tk}, seed)); }},
    {"dense_with_infinities",
     [](const MaskShape& shape, std::uint64_t seed) {
       return dense_bias(with_infinities(normal({shape.H, shape.Tq, shape.Tk}, seed), seed));
     }},
    {"sum",
     [](const MaskShape& shape, std::uint64_t seed) {
       return alibi() + t5_bias(normal({32, shape.H}, seed)) +
              dense_bias(with_infinities(normal({1, shape.Tk}, seed), seed));
     }},
});

}  // namespace

std::span<const Named<Bias>> biases() { return kBiases; }

Bias bias_of(const Case& one) {
  for (const Named<Bias>& named : biases()) {
    if (named.name == one.bias) return named.make(one.shape(), one.seed);
  }
  return {};
}

}  // namespace qkv::cases
