#include <fmt/format.h>

#include <limits>

#include "cache/kv_gather.h"
#include "cache/kv_round.h"
#include "qkv/kv_cache.h"

namespace qkv {
namespace {

constexpr std::string_view kFunction = "KvCacheView";

void require_view(bool holds, std::string_view argument, const std::string& expected, const std::string& got) {
  if (!holds) throw InvalidArgument(kFunction, argument, expected, got);
}

void require_scales(std::string_view argument, const TensorView& scales, const TensorView& rows) {
  if (rows.dtype() != DType::i8) {
    require_view(scales.size() == 0, argument, "none where the buffer is " + std::string(name_of(rows.dtype())),
                 scales.shape().to_string());
    return;
  }
  const Shape wanted = rows.shape().without(3);
  require_view(scales.dtype() == DType::f32 && scales.shape() == wanted, argument, "f32 " + wanted.to_string(),
               std::string(name_of(scales.dtype())) + " " + scales.shape().to_string());
}

void require_rows(std::string_view argument, const TensorView& rows, std::string_view axes) {
  require_view(rows.rank() == 4, argument, "a shape " + std::string(axes), rows.shape().to_string());
  require_view(kv_detail::can_cache(rows.dtype()), argument, "f64, f32, f16, bf16 or i8",
               std::string(name_of(rows.dtype())));
  require_view(rows.dim(3) < 2 || rows.strides()[3] == 1, argument, "dense rows",
               "strides " + rows.strides().to_string());
}

void require_sound(const KvBuffers& buffers, std::string_view first_axis) {
  const auto& [k, v, k_scales, v_scales] = buffers;
  require_rows("k", k, fmt::format("[{}, Hk, tokens, D]", first_axis));
  require_rows("v", v, fmt::format("[{}, Hk, tokens, Dv]", first_axis));
  require_view(k.dim(1) > 0 && k.dim(3) > 0, "k", "Hk >= 1 and D >= 1", k.shape().to_string());
  require_view(v.dtype() == k.dtype(), "v", std::string(name_of(k.dtype())) + " as k", std::string(name_of(v.dtype())));
  require_view(v.shape().without(3) == k.shape().without(3), "v",
               "all extents but the last of k " + k.shape().to_string(), v.shape().to_string());
  require_scales("k_scales", k_scales, k);
  require_scales("v_scales", v_scales, v);
}

void require_length(std::int64_t b, std::int64_t length, std::int64_t most, const std::string& why) {
  require_view(length >= 0 && length <= most, "lengths", fmt::format("0 to {} for sequence {}{}", most, b, why),
               std::to_string(length));
}

// The table entries of sequence b that its length needs, each checked.
const std::int32_t* checked_table(const TensorView& table, std::int64_t b, std::int64_t needed, std::int64_t pages) {
  if (needed == 0) return nullptr;
  const std::int32_t* entries = table.data_as<std::int32_t>() + b * table.strides()[0];
  for (std::int64_t n = 0; n < needed; ++n) {
    require_view(entries[n] >= 0 && entries[n] < pages, "page_table",
                 fmt::format("a page from 0 to {} at [{}, {}], of sequence {}", pages - 1, b, n, b),
                 std::to_string(entries[n]));
  }
  return entries;
}

}  // namespace

KvCacheView::KvCacheView(const KvBuffers& buffers, std::vector<std::int64_t> lengths)
    : buffers_(buffers), lengths_(std::move(lengths)) {
  require_sound(buffers_, "B");
  require_view(B() == buffers_.k.dim(0), "lengths", fmt::format("one for each of {} sequences", buffers_.k.dim(0)),
               std::to_string(B()));
  const std::int64_t capacity = buffers_.k.dim(2);
  for (std::int64_t b = 0; b < B(); ++b) {
    require_length(b, length(b), capacity, fmt::format(", as its buffer holds {} tokens", capacity));
  }
}

KvCacheView::KvCacheView(const KvBuffers& buffers, const TensorView& page_table, std::vector<std::int64_t> lengths)
    : buffers_(buffers), lengths_(std::move(lengths)) {
  require_sound(buffers_, "pages");
  require_view(page_table.dtype() == DType::i32 && page_table.rank() == 2 && page_table.dim(0) == B(), "page_table",
               fmt::format("i32 [{}, max_pages]", B()),
               std::string(name_of(page_table.dtype())) + " " + page_table.shape().to_string());
  require_view(page_table.dim(1) < 2 || page_table.strides()[1] == 1, "page_table", "dense rows",
               "strides " + page_table.strides().to_string());
  const std::int64_t tokens = buffers_.k.dim(2);
  require_view(tokens > 0, "k", "pages of 1 token or more", buffers_.k.shape().to_string());
  std::int64_t most = 0;
  if (__builtin_mul_overflow(page_table.dim(1), tokens, &most)) most = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t b = 0; b < B(); ++b) {
    require_length(b, length(b), most,
                   fmt::format(", as the table has {} pages of {} tokens for each", page_table.dim(1), tokens));
    const std::int64_t needed = length(b) / tokens + (length(b) % tokens != 0);
    tables_.push_back(checked_table(page_table, b, needed, buffers_.k.dim(0)));
  }
}

std::int64_t KvCacheView::length(std::int64_t b) const {
  if (b >= 0 && b < B()) return lengths_[static_cast<std::size_t>(b)];
  throw InvalidArgument(kFunction, "b", fmt::format("0 <= b < {}", B()), std::to_string(b));
}

const std::int32_t* KvCacheView::pages(std::int64_t b) const {
  return length(b) == 0 || tables_.empty() ? nullptr : tables_[static_cast<std::size_t>(b)];
}

Tensor KvCacheView::keys(std::int64_t b, DType dtype) const {
  require_view(is_floating(dtype), "dtype", "f64, f32, f16 or bf16", std::string(name_of(dtype)));
  Tensor result(dtype, {Hk(), length(b), D()});
  kv_detail::read_keys(*this, b, {.begin = 0, .end = length(b)}, result);
  return result;
}

Tensor KvCacheView::values(std::int64_t b, DType dtype) const {
  require_view(is_floating(dtype), "dtype", "f64, f32, f16 or bf16", std::string(name_of(dtype)));
  Tensor result(dtype, {Hk(), length(b), Dv()});
  kv_detail::read_values(*this, b, {.begin = 0, .end = length(b)}, result);
  return result;
}

}  // namespace qkv
