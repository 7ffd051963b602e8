// The memory of the keys or values of one sequence and head: a plain tensor, a contiguous cache or a paged one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "qkv/dtype.h"

namespace qkv::kernels {

/// Row j holds D contiguous elements. Pages and lengths have been validated; kernels do not check them.
struct KvRows {
  const std::byte* base = nullptr;
  DType dtype = DType::f32;
  std::int64_t row_stride_bytes = 0;
  const std::int32_t* pages = nullptr;  // null: contiguous rows
  std::int64_t page_rows = 0;
  std::int64_t page_stride_bytes = 0;
  const float* scales = nullptr;  // null: 1; else a row's elements are multiplied by its scale
  std::int64_t scale_row_stride = 0;
  std::int64_t scale_page_stride = 0;

  [[nodiscard, gnu::always_inline]] const std::byte* row(std::int64_t j) const {
    if (pages == nullptr) return base + j * row_stride_bytes;
    return base + pages[j / page_rows] * page_stride_bytes + j % page_rows * row_stride_bytes;
  }

  [[nodiscard, gnu::always_inline]] float scale(std::int64_t j) const { return scales == nullptr ? 1 : *scale_of(j); }

  /// Where the scale of row j lies, if there are scales: within a run scale_row_stride from one to the next.
  [[nodiscard, gnu::always_inline]] const float* scale_of(std::int64_t j) const {
    if (pages == nullptr) return scales + j * scale_row_stride;
    return scales + pages[j / page_rows] * scale_page_stride + j % page_rows * scale_row_stride;
  }

  /// How many rows from j on are row_stride_bytes apart; the end of the sequence is not known here.
  [[nodiscard, gnu::always_inline]] std::int64_t run(std::int64_t j) const {
    return pages == nullptr ? INT64_MAX : page_rows - j % page_rows;
  }
};

}  // namespace qkv::kernels
