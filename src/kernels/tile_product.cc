#include "kernels/tile_product.h"

#include <algorithm>
#include <type_traits>

#include "core/element.h"
#include "kernels/cpu/task.h"

namespace qkv::kernels {
namespace {

// Calls put(row, d, value) for `count` rows of a tensor [B, H, T, D] from row `first` of axis 2 on.
template <class Real, class Put>
void load_rows(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count,
               const Put& put) {
  const Strides& strides = x.strides();
  core::with_type(x.dtype(), [&](auto type) {
    using Element = decltype(type);
    const auto* row = static_cast<const Element*>(x.data()) + b * strides[0] + h * strides[1] + first * strides[2];
    const std::int64_t D = x.dim(3);
    for (std::int64_t n = 0; n < count; ++n, row += strides[2]) {
      for (std::int64_t d = 0; d < D; ++d) put(n, d, static_cast<Real>(core::to_double(row[d * strides[3]])));
    }
  });
}

// Products of `Keys` keys with the queries of two vector registers: each sum runs over d in order.
template <class Real, int Keys>
void multiply_strip(const Real* q, const Real* k, std::int64_t D, Real* tile) {
  constexpr int kLanes = 32 / sizeof(Real);
  typedef Real Vector __attribute__((vector_size(32)));  // NOLINT(modernize-use-using): the attribute wants it
  Vector sums[Keys] = {};
  for (std::int64_t d = 0; d < D; ++d) {
    Vector queries;
    __builtin_memcpy(&queries, q + d * kTile, sizeof(queries));
    for (int c = 0; c < Keys; ++c) sums[c] += queries * k[c * D + d];
  }
  static_assert(kTile % kLanes == 0);
  for (int c = 0; c < Keys; ++c) __builtin_memcpy(tile + c * kTile, &sums[c], sizeof(sums[c]));
}

template <class Real>
void multiply_plain(const Real* q, const Real* k, std::int64_t queries, std::int64_t keys, std::int64_t D, Real* tile) {
  constexpr int kLanes = 32 / sizeof(Real);
  for (std::int64_t n = 0; n < queries; n += kLanes) {
    std::int64_t c = 0;
    for (; c + 4 <= keys; c += 4) multiply_strip<Real, 4>(q + n, k + c * D, D, tile + c * kTile + n);
    for (; c < keys; ++c) multiply_strip<Real, 1>(q + n, k + c * D, D, tile + c * kTile + n);
  }
}

}  // namespace

template <class Real>
TileProduct<Real>::TileProduct(std::int64_t width, const cpu::Target* target)
    : width_(width),
      target_(target),
      across_(static_cast<std::size_t>(width * kTile)),
      rows_(static_cast<std::size_t>(width * kTile)) {}

template <class Real>
void TileProduct<Real>::set_queries(const TensorView& x, std::int64_t b, std::int64_t h, std::int64_t i_begin,
                                    std::int64_t i_end) {
  queries_ = i_end - i_begin;
  std::ranges::fill(across_, Real{0});
  load_rows<Real>(x, b, h, i_begin, queries_, [&](std::int64_t n, std::int64_t d, Real value) {
    across_[static_cast<std::size_t>(d * kTile + n)] = value;
  });
}

template <class Real>
void TileProduct<Real>::set_keys(const TensorView& x, std::int64_t b, std::int64_t h, const KeyRange& keys) {
  keys_ = keys.end - keys.begin;
  load_rows<Real>(x, b, h, keys.begin, keys_, [&](std::int64_t n, std::int64_t d, Real value) {
    rows_[static_cast<std::size_t>(n * width_ + d)] = value;
  });
}

template <class Real>
void TileProduct<Real>::multiply(ScoreTile<Real>& tile) const {
  if (width_ == 0) return tile.fill(0);  // across_ and rows_ are empty
  if constexpr (std::is_same_v<Real, float>) {
    if (target_ != nullptr && target_->multiply != nullptr) {
      return target_->multiply(across_.data(), rows_.data(), queries_, keys_, width_, tile.data());
    }
  }
  multiply_plain(across_.data(), rows_.data(), queries_, keys_, width_, tile.data());
}

template class TileProduct<float>;
template class TileProduct<double>;

}  // namespace qkv::kernels
