#include "kernels/product/known_product.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "kernels/pieces.h"
#include "kernels/real.h"
#include "kernels/vectorised.h"

namespace qkv::kernels {
namespace {

constexpr float kFar = 1.0F / 16;  // of the squares of a row

// Whether a row is far.
bool put_row(const float* x, const float* known, std::int64_t K, BFloat16* out) {
  constexpr std::int64_t kLanes = 32;
  std::array<float, kLanes> differences{};
  std::array<float, kLanes> whole{};
  vectorised<float>([&]() QKV_INLINED {
    for (std::int64_t k = 0; k < K; ++k) store(out[k], x[k] - known[k]);
    for (std::int64_t first = 0; first < K; first += kLanes) {
      const std::int64_t count = std::min(kLanes, K - first);
      const auto add = [&](std::int64_t lanes) QKV_INLINED {
        for (std::int64_t n = 0; n < lanes; ++n) {
          const float difference = x[first + n] - known[first + n];
          differences[n] += difference * difference;
          whole[n] += known[first + n] * known[first + n];
        }
      };
      if (count == kLanes) {
        add(kLanes);
      } else {
        add(count);
      }
    }
  });
  const auto sum = [](const auto& lanes) { return std::accumulate(lanes.begin(), lanes.end(), 0.0F); };
  return !(sum(differences) <= kFar * sum(whole));
}

}  // namespace

RowDifferences::RowDifferences(const TensorView& x, const TensorView& known) : rounded_(DType::bf16, x.shape()) {
  const std::int64_t K = x.dim(1);
  const std::int64_t M = known.dim(0);
  auto* const rounded = static_cast<BFloat16*>(rounded_.writable().data());
  std::vector<char> is_far(static_cast<std::size_t>(x.dim(0)), 0);
  std::atomic<bool> differs = false;
  for_rows(x.dim(0), K, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* const own = x.data_as<float>() + row * K;
      const float* const before = known.data_as<float>() + row % M * K;
      if (std::equal(own, own + K, before)) {
        std::fill_n(rounded + row * K, K, BFloat16(0));
        continue;
      }
      differs = true;
      if (!put_row(own, before, K, rounded + row * K)) continue;
      is_far[static_cast<std::size_t>(row)] = 1;
      std::fill_n(rounded + row * K, K, BFloat16(0));
    }
  });
  is_zero_ = !differs;
  for (std::size_t row = 0; row < is_far.size(); ++row) {
    if (is_far[row] != 0) far_.push_back(static_cast<std::int64_t>(row));
  }
}

void RowDifferences::multiply(const MutableTensorView& out, const TensorView& known, const PackedWeight& weight) const {
  const std::int64_t N = out.dim(1);
  const std::int64_t M = known.dim(0);
  auto* const to = static_cast<float*>(out.data());
  const auto* const from = known.data_as<float>();
  for_rows(out.dim(0), N, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) std::copy_n(from + row % M * N, N, to + row * N);
  });
  if (!is_zero_) weight.add_product(out, rounded_.view());
}

Tensor rows_at(const TensorView& x, const std::vector<std::int64_t>& rows) {
  const std::int64_t K = x.dim(1);
  Tensor some(DType::f32, {std::ssize(rows), K});
  auto* to = some.values<float>().data();
  for (const std::int64_t row : rows) to = std::copy_n(x.data_as<float>() + row * K, K, to);
  return some;
}

void put_rows(const TensorView& from, const std::vector<std::int64_t>& rows, const MutableTensorView& out) {
  const std::int64_t N = out.dim(1);
  const auto* next = from.data_as<float>();
  for (const std::int64_t row : rows) {
    std::copy_n(next, N, static_cast<float*>(out.data()) + row * N);
    next += N;
  }
}

}  // namespace qkv::kernels
