// Products with quantised weights in the web build: the loops of its target beside those for any machine. For
// tests/web/quantised.mjs and scripts/bench-web.mjs; no part of what a page takes along.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random_blocks.h"
#include "kernels/product/quantised_loops.h"
#include "qkv/random.h"

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define QKV_EXPORT(name) extern "C" __attribute__((export_name(name), visibility("default")))

namespace {

using qkv::DType;
using qkv::Tensor;
using qkv::core::BlockType;
using qkv::kernels::QuantisedLoops;
using qkv::kernels::QuantisedWeight;

struct Product {
  Product(int type, int M, int N, int K)
      : blocks(qkv::tests::random_blocks(static_cast<BlockType>(type), N, K)),
        weight{.type = static_cast<BlockType>(type), .N = N, .K = K, .blocks = blocks.data()},
        x(qkv::Generator(1).randn({M, K})),
        bias(qkv::Generator(2).randn({N})) {}

  [[nodiscard]] Tensor by(const QuantisedLoops& loops) const {
    const qkv::TensorView shift = bias.view();
    Tensor out(DType::f32, {x.dim(0), weight.N});
    qkv::kernels::multiply_by(loops, out, x.view(), weight, x.dim(0) % 2 == 0 ? nullptr : &shift);
    return out;
  }

  /// Sums of products of magnitudes: how far rounding may take a sum, in units of it.
  [[nodiscard]] Tensor sizes() const {
    Tensor all(DType::f32, {x.dim(0), weight.N});
    std::vector<float> row(static_cast<std::size_t>(weight.K));
    for (std::int64_t n = 0; n < weight.N; ++n) {
      qkv::kernels::dequantise_row(weight, n, row.data());
      for (std::int64_t m = 0; m < x.dim(0); ++m) {
        const float* left = x.values<float>().data() + m * weight.K;
        float size = std::fabs(bias.values<float>()[static_cast<std::size_t>(n)]);
        for (std::int64_t first = 0; first < weight.K; first += 32) size += size_of_group(left + first, &row[first]);
        all.values<float>()[static_cast<std::size_t>(m * weight.N + n)] = size;
      }
    }
    return all;
  }

  std::vector<std::byte> blocks;
  QuantisedWeight weight;
  Tensor x;
  Tensor bias;

 private:
  // Scale times number and minimum are a few times as large as the largest of their sums.
  static float size_of_group(const float* left, const float* right) {
    float total = 0;
    float largest = 0;
    for (int n = 0; n < 32; ++n) {
      total += std::fabs(left[n]);
      largest = std::max(largest, std::fabs(right[n]));
    }
    return 5 * total * largest;
  }
};

const QuantisedLoops& loops_of(int own) {
  return own != 0 ? qkv::kernels::chosen_quantised() : qkv::kernels::baseline::kQuantised;
}

}  // namespace

QKV_EXPORT("types") int qkv_types() { return static_cast<int>(qkv::core::kBlockTypes); }

QKV_EXPORT("name") const char* qkv_name(int type) {
  return qkv::core::layout_of(static_cast<BlockType>(type)).name.data();
}

QKV_EXPORT("numbers_of_block") int qkv_numbers_of_block(int type) {
  return static_cast<int>(qkv::core::layout_of(static_cast<BlockType>(type)).numbers);
}

QKV_EXPORT("has_own") int qkv_has_own() { return static_cast<int>(qkv::kernels::chosen_quantised().many != nullptr); }

/// The largest difference of [M, K] by [N, K] between both loops, in units of what rounding in f32 allows.
QKV_EXPORT("difference") double qkv_difference(int type, int M, int N, int K) {
  const Product product(type, M, N, K);
  const Tensor ours = product.by(loops_of(1));
  const Tensor theirs = product.by(loops_of(0));
  const Tensor sizes = product.sizes();
  double largest = 0;
  for (std::size_t n = 0; n < ours.values<float>().size(); ++n) {
    const double allowed = 0x1p-23 * (K / 64 + 12) * static_cast<double>(sizes.values<float>()[n]);
    const double apart = std::fabs(static_cast<double>(ours.values<float>()[n]) - theirs.values<float>()[n]);
    largest = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(largest, apart / allowed);
  }
  return largest;
}

/// Milliseconds, the fastest of several runs.
QKV_EXPORT("milliseconds") double qkv_milliseconds(int own, int type, int M, int N, int K, int repeats) {
  using Clock = std::chrono::steady_clock;
  const Product product(type, M, N, K);
  double fastest = std::numeric_limits<double>::infinity();
  for (int n = 0; n < repeats; ++n) {
    const auto begin = Clock::now();
    static_cast<void>(product.by(loops_of(own)));
    fastest = std::min(fastest, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return fastest;
}
