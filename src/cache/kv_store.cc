#include "cache/kv_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "cache/kv_round.h"

namespace qkv::kv_detail {
namespace {

void require_format(std::string_view function, const KvFormat& format) {
  const auto at_least_1 = [&](std::string_view argument, std::int64_t value) {
    if (value < 1) throw InvalidArgument(function, argument, "1 or more", std::to_string(value));
  };
  at_least_1("format.Hk", format.Hk);
  at_least_1("format.D", format.D);
  if (format.Dv.value_or(0) < 0) throw InvalidArgument(function, "format.Dv", "0 or more", std::to_string(*format.Dv));
  if (can_cache(format.dtype)) return;
  throw InvalidArgument(function, "format.dtype", "f64, f32, f16, bf16 or i8", name_of(format.dtype));
}

std::size_t bytes_of(const Tensor& x) { return static_cast<std::size_t>(x.size()) * size_of(x.dtype()); }

// The rows of a head are contiguous within a page.
std::size_t offset_of(const Tensor& x, std::int32_t page, std::int64_t h, std::int64_t token) {
  const std::int64_t row = (page * x.dim(1) + h) * x.dim(2) + token;
  return static_cast<std::size_t>(row) * (bytes_of(x) / static_cast<std::size_t>(x.dim(0) * x.dim(1) * x.dim(2)));
}

// From token `first` on, to the begin of a page, which may be the same.
void move_runs(const Tensor& from, std::int32_t from_page, std::int64_t first, Tensor& to, std::int32_t to_page,
               std::int64_t tokens) {
  if (from.size() == 0 || to.size() == 0 || tokens == 0) return;
  for (std::int64_t h = 0; h < from.dim(1); ++h) {
    const std::size_t begin = offset_of(from, from_page, h, first);
    std::memmove(static_cast<std::byte*>(to.data()) + offset_of(to, to_page, h, 0),
                 static_cast<const std::byte*>(from.data()) + begin,
                 offset_of(from, from_page, h, first + tokens) - begin);
  }
}

// Row [h, t] of [Hk, T, D].
Vector vector_at(const TensorView& x, std::int64_t h, std::int64_t t) {
  const std::int64_t offset = h * x.strides()[0] + t * x.strides()[1];
  return {.data = static_cast<const std::byte*>(x.data()) + offset * static_cast<std::int64_t>(size_of(x.dtype())),
          .dtype = x.dtype(),
          .size = x.shape()[2],
          .stride = x.strides()[2]};
}

void write_row(const Vector& vector, Tensor& rows, Tensor& scales, std::int64_t row) {
  const std::int64_t bytes = vector.size * static_cast<std::int64_t>(size_of(rows.dtype()));
  std::byte* to = static_cast<std::byte*>(rows.data()) + row * bytes;
  if (rows.dtype() != DType::i8) return round_row(vector, rows.dtype(), to);
  static_cast<float*>(scales.data())[row] = round_row_to_i8(vector, reinterpret_cast<std::int8_t*>(to));
}

}  // namespace

Store::Store(std::string_view function, const KvFormat& format, std::int64_t pages, std::int64_t page_tokens)
    : format_(format), page_tokens_(page_tokens) {
  require_format(function, format);
  format_.Dv = format.Dv.value_or(format.D);
  k_ = Tensor(format.dtype, {pages, format.Hk, page_tokens, format.D});
  v_ = Tensor(format.dtype, {pages, format.Hk, page_tokens, *format_.Dv});
  if (format.dtype == DType::i8) {
    k_scales_ = Tensor(DType::f32, {pages, format.Hk, page_tokens});
    v_scales_ = Tensor(DType::f32, {pages, format.Hk, page_tokens});
  }
  page_bytes_ = page_tokens * token_bytes(format);
  owners_.assign(static_cast<std::size_t>(pages), 0);
  free_.reserve(static_cast<std::size_t>(pages));
  for (std::int64_t page = pages; page > 0; --page) free_.push_back(static_cast<std::int32_t>(page - 1));
}

std::int32_t Store::take() {
  const std::int32_t page = free_.back();
  free_.pop_back();
  share(page);
  return page;
}

void Store::drop(std::int32_t page) {
  if (--owners_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

void Store::copy(const Store& from, std::int32_t from_page, std::int32_t to_page, std::int64_t tokens) {
  move_runs(from.k_, from_page, 0, k_, to_page, tokens);
  move_runs(from.v_, from_page, 0, v_, to_page, tokens);
  if (k_scales_.empty()) return;
  move_runs(from.k_scales_, from_page, 0, k_scales_, to_page, tokens);
  move_runs(from.v_scales_, from_page, 0, v_scales_, to_page, tokens);
}

void Store::move_to_begin(std::int32_t page, std::int64_t first, std::int64_t tokens) {
  for (Tensor* rows : {&k_, &v_, &k_scales_, &v_scales_}) {
    if (!rows->empty()) move_runs(*rows, page, first, *rows, page, tokens);
  }
}

void Store::write(const TensorView& k, const TensorView& v, std::int64_t t, std::int32_t page, std::int64_t token) {
  for (std::int64_t h = 0; h < format_.Hk; ++h) {
    const std::int64_t row = (page * format_.Hk + h) * page_tokens_ + token;
    write_row(vector_at(k, h, t), k_, k_scales_, row);
    write_row(vector_at(v, h, t), v_, v_scales_, row);
  }
}

}  // namespace qkv::kv_detail

namespace qkv {

std::int64_t token_bytes(const KvFormat& format) noexcept {
  const std::int64_t numbers =
      (format.D + format.Dv.value_or(format.D)) * static_cast<std::int64_t>(size_of(format.dtype));
  const std::int64_t scales = format.dtype == DType::i8 ? 2 * static_cast<std::int64_t>(sizeof(float)) : 0;
  return format.Hk * (numbers + scales);
}

}  // namespace qkv
