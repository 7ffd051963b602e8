#include "cache/kv_rows.h"

namespace qkv {
namespace {

kernels::KvRows rows_of(const TensorView& rows, const TensorView& scales, const std::int32_t* pages, std::int64_t b,
                        std::int64_t h) {
  const auto element = static_cast<std::int64_t>(size_of(rows.dtype()));
  const std::int64_t entry = pages == nullptr ? b : 0;
  kernels::KvRows result = {.base = static_cast<const std::byte*>(rows.data()) +
                                    (entry * rows.strides()[0] + h * rows.strides()[1]) * element,
                            .dtype = rows.dtype(),
                            .row_stride_bytes = rows.strides()[2] * element,
                            .pages = pages,
                            .page_rows = rows.shape()[2],
                            .page_stride_bytes = rows.strides()[0] * element};
  if (rows.dtype() != DType::i8) return result;
  result.scales = scales.data_as<float>() + entry * scales.strides()[0] + h * scales.strides()[1];
  result.scale_row_stride = scales.strides()[2];
  result.scale_page_stride = scales.strides()[0];
  return result;
}

}  // namespace

kernels::KvRows key_rows(const KvCacheView& cache, std::int64_t b, std::int64_t h) {
  return rows_of(cache.buffers().k, cache.buffers().k_scales, cache.pages(b), b, h);
}

kernels::KvRows value_rows(const KvCacheView& cache, std::int64_t b, std::int64_t h) {
  return rows_of(cache.buffers().v, cache.buffers().v_scales, cache.pages(b), b, h);
}

}  // namespace qkv
