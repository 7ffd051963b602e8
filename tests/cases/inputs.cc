#include "cases/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace qkv::cases {
namespace {

constexpr std::int64_t kGap = 5;

using Engine = std::mt19937_64;
using Index = std::array<std::int64_t, 4>;

std::int64_t row_elements(DType dtype, std::int64_t width, Layout layout) {
  const auto page = static_cast<std::int64_t>(4096 / size_of(dtype));
  if (layout == Layout::page_rows) return (width / page + 1) * page;
  if (layout == Layout::gapped) return width + kGap;
  return layout == Layout::columns ? 2 * width : width;
}

// Of [B, H, T, width], or [B, H, T] with width 1 and its axis left out.
Strides strides_of(DType dtype, const Shape& shape, Layout layout) {
  const std::int64_t width = shape.rank() == 4 ? shape[3] : 1;
  const std::int64_t row = row_elements(dtype, width, layout);
  Strides strides = {shape[1] * shape[2] * row, shape[2] * row, row};
  if (layout == Layout::token_major) strides = {shape[2] * shape[1] * row, row, shape[1] * row};
  if (layout == Layout::one_batch) strides[0] = 0;
  if (layout == Layout::one_head) strides[1] = 0;
  if (layout == Layout::one_row) strides[2] = 0;
  if (layout == Layout::reversed) strides[2] = -row;
  if (shape.rank() == 4) strides.push_back(layout == Layout::columns ? 2 : 1);
  return strides;
}

// Calls body(index) for every element of [B, H, T, D].
template <class Body>
void for_each_index(const Shape& shape, const Body& body) {
  Index at{};
  for (at[0] = 0; at[0] < shape[0]; ++at[0]) {
    for (at[1] = 0; at[1] < shape[1]; ++at[1]) {
      for (at[2] = 0; at[2] < shape[2]; ++at[2]) {
        for (at[3] = 0; at[3] < (shape.rank() == 4 ? shape[3] : 1); ++at[3]) body(at);
      }
    }
  }
}

void fill(const MutableTensorView& x, double deviation, Engine& engine) {
  std::normal_distribution<double> draw(0, deviation);
  std::vector<double> row(static_cast<std::size_t>(x.dim(3)));
  for_each_index({x.dim(0), x.dim(1), x.dim(2)}, [&](const Index& at) {
    for (double& value : row) value = draw(engine);
    x.store_row(std::span(at).first(3), row);
  });
}

void copy_first_row(const MutableTensorView& x) {
  for_each_index(x.shape(),
                 [&](const Index& at) { x.set({at[0], at[1], at[2], at[3]}, x.view().at({at[0], at[1], 0, at[3]})); });
}

void multiply_some(const MutableTensorView& x, double factor, Engine& engine) {
  std::bernoulli_distribution chosen(0.25);
  for_each_index(x.shape(), [&](const Index& at) {
    if (chosen(engine)) x.set({at[0], at[1], at[2], at[3]}, factor * x.view().at({at[0], at[1], at[2], at[3]}));
  });
}

void keep_one_column(const MutableTensorView& x, Engine& engine) {
  std::uniform_int_distribution<std::int64_t> column(0, x.dim(3) - 1);
  std::int64_t kept = 0;
  for_each_index(x.shape(), [&](const Index& at) {
    if (at[3] == 0) kept = column(engine);
    if (at[3] != kept) x.set({at[0], at[1], at[2], at[3]}, 0);
  });
}

void raise_one_key(const MutableTensorView& k, Engine& engine) {
  if (k.dim(2) == 0) return;
  const std::int64_t j = std::uniform_int_distribution<std::int64_t>(0, k.dim(2) - 1)(engine);
  const MutableTensorView key = k.slice(2, j, j + 1);
  for_each_index(key.shape(), [&](const Index& at) {
    key.set({at[0], at[1], 0, at[3]}, 1000 * key.view().at({at[0], at[1], 0, at[3]}));
  });
}

double smallest_normal(DType dtype) { return dtype == DType::f16 ? 0x1p-14 : 0x1p-126; }

void draw_values(const Case& one, const MutableTensorView& q, const MutableTensorView& k, const MutableTensorView& v,
                 Engine& engine) {
  const double deviation = one.values == Values::tiny ? smallest_normal(one.dtype) : 1;
  fill(q, deviation, engine);
  fill(k, deviation, engine);
  fill(v, deviation, engine);
  const double huge = one.dtype == DType::f16 ? 1e3 : 1e30;
  if (one.values == Values::equal && one.Tk > 0) {
    copy_first_row(k);
    copy_first_row(v);
  }
  if (one.values == Values::one_hot) keep_one_column(q, engine);
  if (one.values == Values::outlier) raise_one_key(k, engine);
  if (one.values == Values::huge_q) multiply_some(q, huge, engine);
  if (one.values == Values::huge_k) multiply_some(k, huge, engine);
  if (one.values == Values::huge_v) multiply_some(v, huge, engine);
}

void sprinkle(const Case& one, const std::array<MutableTensorView, 3>& qkv, Engine& engine) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array kSpecials = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  for (std::int64_t n = 0; n < one.specials; ++n) {
    const MutableTensorView& x = qkv[engine() % 3];
    const double special = kSpecials[engine() % 3];
    Index at{};
    bool some = true;
    for (int axis = 0; axis < 4; ++axis) {
      const auto place = static_cast<std::int64_t>(engine() >> 1U);
      some = some && x.dim(axis) > 0;
      if (x.dim(axis) > 0) at[static_cast<std::size_t>(axis)] = place % x.dim(axis);
    }
    if (some) x.set({at[0], at[1], at[2], at[3]}, special);
  }
}

// Keys share their elements with others where strides are 0; those are left alone.
void poison_unseen(const Case& one, const AttentionOptions& options, const MutableTensorView& k,
                   const MutableTensorView& v) {
  const MaskShape shape = one.shape();
  const auto shares = [](const MutableTensorView& x) {
    return x.strides()[0] == 0 || x.strides()[1] == 0 || x.strides()[2] == 0;
  };
  const auto seen = [&](std::int64_t b, std::int64_t key_head, std::int64_t j) {
    for (std::int64_t h = key_head * one.group; h < (key_head + 1) * one.group; ++h) {
      for (std::int64_t i = 0; i < one.Tq; ++i) {
        const Place place = {.b = b, .h = h, .i = i, .j = j};
        if (options.mask.allows(place, shape) && options.bias.at(place, shape) > -INFINITY) return true;
      }
    }
    return false;
  };
  for (std::int64_t b = 0; b < one.B; ++b) {
    for (std::int64_t h = 0; h < one.Hk; ++h) {
      for (std::int64_t j = 0; j < one.Tk; ++j) {
        if (seen(b, h, j)) continue;
        for (std::int64_t d = 0; d < one.D && !shares(k); ++d) k.set({b, h, j, d}, NAN);
        for (std::int64_t d = 0; d < one.Dv && !shares(v); ++d) v.set({b, h, j, d}, NAN);
      }
    }
  }
}

KvCache empty_cache(const Case& one, DType dtype) {
  constexpr std::int64_t kPageTokens = 16;
  const KvFormat format = {.Hk = one.Hk, .D = one.D, .Dv = one.Dv, .dtype = dtype};
  if (one.seed % 2 == 0) return KvCache({.format = format, .B = one.B, .capacity = std::max<std::int64_t>(one.Tk, 1)});
  const std::int64_t pages = one.B * (one.Tk / kPageTokens + 1);
  return {KvPages({.format = format, .pages = pages, .page_tokens = kPageTokens}), one.B};
}

// A cache of i8 refuses NaN and infinities: they become 0.
void keep_finite(const MutableTensorView& x) {
  for_each_index(x.shape(), [&](const Index& at) {
    if (!std::isfinite(x.view().at({at[0], at[1], at[2], at[3]}))) x.set({at[0], at[1], at[2], at[3]}, 0);
  });
}

// The keys or the values of all sequences, exactly as the cache holds them.
Placed entries(const KvCache& cache, const Shape& shape, Tensor (KvCacheView::*rows)(std::int64_t, DType) const) {
  Placed exact(DType::f64, shape, Layout::dense);
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const Tensor entry = (cache.view().*rows)(b, DType::f64);
    for_each_index({1, shape[1], shape[2], shape[3]}, [&](const Index& at) {
      exact.view().set({b, at[1], at[2], at[3]}, entry.at({at[1], at[2], at[3]}));
    });
  }
  return exact;
}

void keep_in_cache(const Case& one, Inputs& inputs) {
  constexpr std::array kTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8};
  if (one.cache == Cache::i8) {
    keep_finite(inputs.k.view());
    keep_finite(inputs.v.view());
  }
  KvCache& cache = inputs.cache.emplace(empty_cache(one, kTypes[static_cast<std::size_t>(one.cache)]));
  cache.append(inputs.k.view(), inputs.v.view());
  inputs.k = entries(cache, inputs.k.view().shape(), &KvCacheView::keys);
  inputs.v = entries(cache, inputs.v.view().shape(), &KvCacheView::values);
}

std::optional<double> scale_of(const Case& one) {
  if (one.scale == Scale::zero) return 0;
  if (one.scale == Scale::negative) return -0.3;
  if (one.scale == Scale::large) return 3;
  return std::nullopt;
}

std::vector<double> sinks_of(const Case& one) {
  std::vector<double> sinks;
  if (one.sinks == Sinks::none) return sinks;
  const double low = one.sinks == Sinks::mild ? -1 : 20;
  for (std::int64_t h = 0; h < one.Hq(); ++h) sinks.push_back(low + 0.5 * static_cast<double>(h));
  return sinks;
}

}  // namespace

Placed::Placed(DType dtype, const Shape& shape, Layout layout) {
  const Strides strides = strides_of(dtype, shape, layout);
  std::int64_t last = 0;
  std::int64_t first = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t reach = shape[axis] > 0 ? (shape[axis] - 1) * strides[axis] : 0;
    (reach < 0 ? first : last) += reach;
  }
  const std::int64_t start = (layout == Layout::gapped ? 1 : 0) - first;
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  memory_ = Tensor(DType::u8, {(start + last + 1 + kGap) * bytes});
  std::ranges::fill(memory_.values<std::uint8_t>(), std::uint8_t{0xFF});
  view_ = MutableTensorView(static_cast<std::byte*>(memory_.data()) + start * bytes, dtype, shape, strides);
}

bool Placed::gaps_untouched() const {
  std::vector<bool> owned(static_cast<std::size_t>(memory_.size()));
  const auto bytes = static_cast<std::int64_t>(size_of(view_.dtype()));
  const std::int64_t start =
      static_cast<const std::byte*>(view_.data()) - static_cast<const std::byte*>(memory_.data());
  for_each_index(view_.shape(), [&](const Index& at) {
    std::int64_t element = 0;
    for (int axis = 0; axis < view_.rank(); ++axis) {
      element += at[static_cast<std::size_t>(axis)] * view_.strides()[axis];
    }
    std::fill_n(owned.begin() + start + element * bytes, bytes, true);
  });
  const auto all = memory_.values<std::uint8_t>();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (!owned[n] && all[n] != 0xFF) return false;
  }
  return true;
}

Inputs Inputs::of(const Case& one) {
  Inputs inputs = {.q = Placed(one.dtype, {one.B, one.Hq(), one.Tq, one.D}, one.q),
                   .k = Placed(one.dtype, {one.B, one.Hk, one.Tk, one.D}, one.k),
                   .v = Placed(one.dtype, {one.B, one.Hk, one.Tk, one.Dv}, one.v),
                   .options = {.scale = scale_of(one),
                               .softcap = one.softcap > 0 ? std::optional(one.softcap) : std::nullopt,
                               .bias = bias_of(one),
                               .mask = mask_of(one),
                               .dropout = std::nullopt,
                               .sinks = sinks_of(one)}};
  if (one.dropout > 0) inputs.options.dropout = Dropout{.p = one.dropout, .seed = one.seed};
  Engine engine(one.seed);
  draw_values(one, inputs.q.view(), inputs.k.view(), inputs.v.view(), engine);
  sprinkle(one, {inputs.q.view(), inputs.k.view(), inputs.v.view()}, engine);
  if (one.poison) poison_unseen(one, inputs.options, inputs.k.view(), inputs.v.view());
  if (one.cache != Cache::none) keep_in_cache(one, inputs);
  return inputs;
}

}  // namespace qkv::cases
