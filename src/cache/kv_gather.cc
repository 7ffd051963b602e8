#include "cache/kv_gather.h"

#include <type_traits>

#include "cache/kv_rows.h"
#include "core/element.h"

namespace qkv::kv_detail {
namespace {

template <class From, class To>
void read_row(const kernels::KvRows& rows, std::int64_t j, std::int64_t width, To* to) {
  const From* from = reinterpret_cast<const From*>(rows.row(j));
  const auto scale = static_cast<double>(rows.scale(j));
  for (std::int64_t d = 0; d < width; ++d) {
    if constexpr (std::is_same_v<From, To>) {
      to[d] = from[d];
    } else {
      to[d] = core::from_double<To>(scale * core::to_double(from[d]));
    }
  }
}

void read_head(const kernels::KvRows& rows, const KeyRange& tokens, std::int64_t h, Tensor& result) {
  const std::int64_t length = result.dim(-2);
  const std::int64_t width = result.dim(-1);
  core::with_type(rows.dtype, [&]<class From>(From) {
    core::with_type(result.dtype(), [&]<class To>(To) {
      To* to = static_cast<To*>(result.data()) + h * length * width;
      for (std::int64_t j = tokens.begin; j < tokens.end; ++j) read_row<From>(rows, j, width, to + j * width);
    });
  });
}

}  // namespace

void read_keys(const KvCacheView& cache, std::int64_t b, const KeyRange& tokens, Tensor& keys) {
  if (tokens.begin >= tokens.end) return;
  for (std::int64_t h = 0; h < cache.Hk(); ++h) read_head(key_rows(cache, b, h), tokens, h, keys);
}

void read_values(const KvCacheView& cache, std::int64_t b, const KeyRange& tokens, Tensor& values) {
  if (tokens.begin >= tokens.end) return;
  for (std::int64_t h = 0; h < cache.Hk(); ++h) read_head(value_rows(cache, b, h), tokens, h, values);
}

}  // namespace qkv::kv_detail
