#include <array>
#include <optional>
#include <random>

#include "cases/case.h"

namespace qkv::cases {
namespace {

using Engine = std::mt19937_64;

std::int64_t draw(Engine& engine, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
}

std::vector<std::int64_t> lengths_of(const MaskShape& shape, std::uint64_t seed) {
  Engine engine(seed);
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < shape.B; ++b) lengths.push_back(draw(engine, 0, shape.Tk));
  return lengths;
}

std::vector<std::int64_t> documents_of(const MaskShape& shape, std::uint64_t seed) {
  Engine engine(seed);
  std::vector<std::int64_t> lengths;
  std::int64_t rest = shape.Tk;
  while (rest > 0 && lengths.size() < 6) {
    lengths.push_back(draw(engine, 0, rest));
    rest -= lengths.back();
  }
  lengths.push_back(rest);
  return lengths;
}

Tensor flags(const Shape& shape, double share, std::uint64_t seed) {
  Engine engine(seed);
  std::bernoulli_distribution sees(share);
  Tensor tensor(DType::b8, shape);
  for (bool& flag : tensor.values<bool>()) flag = sees(engine);
  return tensor;
}

Mask blocks(std::int64_t block, const MaskShape& shape, std::uint64_t seed) {
  const auto count = [&](std::int64_t extent) { return (extent + block - 1) / block; };
  return block_sparse(block, flags({shape.H, count(shape.Tq), count(shape.Tk)}, 0.4, seed));
}

// A third of the queries see nothing.
Mask some_rows(const MaskShape& /*shape*/, std::uint64_t /*seed*/) {
  return predicate("some_rows", [](const Place& at, const MaskShape&) { return at.i % 3 != 0; }) & causal();
}

constexpr Align kTopLeft = Align::top_left;

const std::array kMasks = std::to_array<Named<Mask>>({
    {"all", [](const MaskShape&, std::uint64_t) { return all(); }},
    {"none", [](const MaskShape&, std::uint64_t) { return none(); }},
    {"causal", [](const MaskShape&, std::uint64_t) { return causal(); }},
    {"causal_top_left", [](const MaskShape&, std::uint64_t) { return causal(kTopLeft); }},
    {"causal_minus_3", [](const MaskShape&, std::uint64_t) { return causal(Align::bottom_right, -3); }},
    {"causal_plus_5", [](const MaskShape&, std::uint64_t) { return causal(kTopLeft, 5); }},
    {"causal_offsets",
     [](const MaskShape& shape, std::uint64_t seed) { return causal_offsets(lengths_of(shape, seed), kTopLeft); }},
    {"window_1", [](const MaskShape&, std::uint64_t) { return window(1); }},
    {"window_17", [](const MaskShape&, std::uint64_t) { return window(17); }},
    {"window_70_top_left", [](const MaskShape&, std::uint64_t) { return window(70, kTopLeft); }},
    {"window_left_9", [](const MaskShape&, std::uint64_t) { return window(9, std::nullopt); }},
    {"window_right_40", [](const MaskShape&, std::uint64_t) { return window(std::nullopt, 40); }},
    {"window_64_0", [](const MaskShape&, std::uint64_t) { return window(64, 0); }},
    {"prefix_20", [](const MaskShape&, std::uint64_t) { return prefix(20); }},
    {"documents", [](const MaskShape& shape, std::uint64_t seed) { return documents(documents_of(shape, seed)); }},
    {"documents_top_left",
     [](const MaskShape& shape, std::uint64_t seed) { return documents(documents_of(shape, seed), kTopLeft); }},
    {"key_lengths", [](const MaskShape& shape, std::uint64_t seed) { return key_lengths(lengths_of(shape, seed)); }},
    {"strided_7", [](const MaskShape&, std::uint64_t) { return strided(7); }},
    {"dilated_5_3", [](const MaskShape&, std::uint64_t) { return dilated(5, 3); }},
    {"global_tokens", [](const MaskShape&, std::uint64_t) { return global_tokens(3); }},
    {"global_tokens_at", [](const MaskShape&, std::uint64_t) { return global_tokens_at({1, 66, 130}, kTopLeft); }},
    {"block_sparse_16", [](const MaskShape& shape, std::uint64_t seed) { return blocks(16, shape, seed); }},
    {"block_sparse_64", [](const MaskShape& shape, std::uint64_t seed) { return blocks(64, shape, seed); }},
    {"dense",
     [](const MaskShape& shape, std::uint64_t seed) {
       return dense(flags({shape.B, shape.H, shape.Tq, shape.Tk}, 0.5, seed));
     }},
    {"dense_rare",
     [](const MaskShape& shape, std::uint64_t seed) {
       return dense(flags({shape.B, 1, shape.Tq, shape.Tk}, 0.01, seed));
     }},
    {"dense_padding",
     [](const MaskShape& shape, std::uint64_t seed) { return dense(flags({shape.B, 1, 1, shape.Tk}, 0.7, seed)); }},
    {"dense_by_head",
     [](const MaskShape& shape, std::uint64_t seed) { return dense(flags({shape.H, 1, shape.Tk}, 0.5, seed)); }},
    {"predicate",
     [](const MaskShape&, std::uint64_t) {
       return predicate("odd",
                        [](const Place& at, const MaskShape&) { return (at.i * 3 + at.j + at.h + at.b) % 5 != 0; });
     }},
    {"some_rows", some_rows},
    {"causal_and_window", [](const MaskShape&, std::uint64_t) { return causal() & window(33); }},
    {"causal_and_documents",
     [](const MaskShape& shape, std::uint64_t seed) { return causal() & documents(documents_of(shape, seed)); }},
    {"causal_or_prefix", [](const MaskShape&, std::uint64_t) { return causal() | prefix(65); }},
    {"window_or_global", [](const MaskShape&, std::uint64_t) { return (causal() & window(8)) | global_tokens(2); }},
    {"not_causal", [](const MaskShape&, std::uint64_t) { return !causal(); }},
    {"far_and_key_lengths",
     [](const MaskShape& shape, std::uint64_t seed) { return (!window(5)) & key_lengths(lengths_of(shape, seed)); }},
});

}  // namespace

std::span<const Named<Mask>> masks() { return kMasks; }

Mask mask_of(const Case& one) {
  for (const Named<Mask>& named : masks()) {
    if (named.name == one.mask) return named.make(one.shape(), one.seed);
  }
  return {};
}

}  // namespace qkv::cases
