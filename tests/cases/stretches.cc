#include "cases/stretches.h"

#include <algorithm>
#include <cstring>

#include "cache/kv_rows.h"

namespace qkv::cases {

std::vector<Stretch> stretches_of(std::int64_t extent, std::mt19937_64& engine) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n));
  };
  std::vector<Stretch> all;
  const std::int64_t way = below(4);
  if (way == 0) return {{.count = extent}};
  if (way == 1) {
    const std::int64_t step = 2 + below(2);
    for (std::int64_t first = 0; first < step; ++first) {
      all.push_back(
          {.first = first, .step = step, .count = std::max<std::int64_t>(0, (extent - first + step - 1) / step)});
    }
    return all;
  }
  std::vector<std::int64_t> ends = {below(extent + 1), below(extent + 1), extent};
  std::ranges::sort(ends);
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    all.push_back({.first = first, .count = end - first});
    first = end;
  }
  return all;
}

TensorView rows_of(const TensorView& x, const Stretch& rows) {
  constexpr int kAxis = 2;
  if (rows.count == 0) return x.slice(kAxis, 0, 0);
  const TensorView span = x.slice(kAxis, rows.first, rows.first + (rows.count - 1) * rows.step + 1);
  Shape shape = span.shape();
  Strides strides = span.strides();
  shape[kAxis] = rows.count;
  strides[kAxis] *= rows.step;
  return {span.data(), span.dtype(), shape, strides};
}

MutableTensorView rows_of(const MutableTensorView& x, const Stretch& rows) {
  const TensorView view = rows_of(x.view(), rows);
  return {const_cast<void*>(view.data()), view.dtype(), view.shape(), view.strides()};
}

MatrixWindow window_of(std::int64_t Tq, std::int64_t Tk, const Stretch& queries, const Stretch& keys) {
  return {
      .Tq = Tq, .Tk = Tk, .first_i = queries.first, .step_i = queries.step, .first_j = keys.first, .step_j = keys.step};
}

namespace {

Tensor untouched(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  if (tensor.size() > 0) std::memset(tensor.data(), 0xFF, static_cast<std::size_t>(tensor.size()) * size_of(dtype));
  return tensor;
}

using RowsOf = kernels::KvRows (*)(const KvCacheView&, std::int64_t, std::int64_t);

std::vector<kernels::KvRows> heads_of(const KvCacheView& cache, RowsOf rows, std::int64_t b) {
  std::vector<kernels::KvRows> heads;
  for (std::int64_t h = 0; h < cache.Hk(); ++h) heads.push_back(rows(cache, b, h));
  return heads;
}

// Copies token j of each head's rows to `token` of an entry.
void copy_token(const std::vector<kernels::KvRows>& heads, std::int64_t j, std::int64_t entry, std::int64_t token,
                Tensor& to, Tensor& scales) {
  const std::int64_t bytes = to.dim(3) * static_cast<std::int64_t>(size_of(to.dtype()));
  std::int64_t place = entry * to.dim(1) * to.dim(2) + token;
  for (const kernels::KvRows& rows : heads) {
    std::byte* row = static_cast<std::byte*>(to.data()) + place * bytes;
    if (bytes > 0) std::memcpy(row, rows.row(j), static_cast<std::size_t>(bytes));
    if (rows.scales != nullptr) scales.values<float>()[static_cast<std::size_t>(place)] = rows.scale(j);
    place += to.dim(2);
  }
}

}  // namespace

CachePart::CachePart(const KvCacheView& whole, const std::vector<Stretch>& stretches, Storage storage) {
  const bool paged = storage == Storage::paged;
  constexpr std::int64_t kPageTokens = 16;
  std::int64_t most = 1;
  for (const Stretch& stretch : stretches) {
    lengths_.push_back(stretch.count);
    most = std::max(most, stretch.count);
  }
  const std::int64_t tokens = paged ? kPageTokens : most;
  const std::int64_t pages = (most + tokens - 1) / tokens;  // of each sequence
  k_ = untouched(whole.dtype(), {pages * whole.B(), whole.Hk(), tokens, whole.D()});
  v_ = untouched(whole.dtype(), {pages * whole.B(), whole.Hk(), tokens, whole.Dv()});
  if (whole.dtype() == DType::i8) k_scales_ = v_scales_ = untouched(DType::f32, k_.shape().without(3));
  if (paged) table_ = Tensor(DType::i32, {whole.B(), pages});
  for (std::int64_t b = 0; b < whole.B(); ++b) {
    const Stretch& stretch = stretches[static_cast<std::size_t>(b)];
    for (std::int64_t n = 0; n < pages && paged; ++n) table_.set({b, n}, static_cast<double>(n * whole.B() + b));
    const std::vector<kernels::KvRows> keys = heads_of(whole, &key_rows, b);
    const std::vector<kernels::KvRows> values = heads_of(whole, &value_rows, b);
    for (std::int64_t t = 0; t < stretch.count; ++t) {
      const std::int64_t entry = t / tokens * whole.B() + b;
      const std::int64_t j = stretch.first + t * stretch.step;
      copy_token(keys, j, entry, t % tokens, k_, k_scales_);
      copy_token(values, j, entry, t % tokens, v_, v_scales_);
    }
  }
}

KvCacheView CachePart::view() const {
  const KvBuffers buffers = {.k = k_, .v = v_, .k_scales = k_scales_, .v_scales = v_scales_};
  return table_.empty() ? KvCacheView(buffers, lengths_) : KvCacheView(buffers, table_, lengths_);
}

}  // namespace qkv::cases
