#include "attention/dense_rows.h"

#include <cstdint>

#include "core/bytes.h"
#include "core/element.h"

namespace qkv {
namespace {

bool has_rows(const TensorView& view) { return view.dim(3) <= 1 || view.strides()[3] == 1; }

template <class T>
void copy_elements(const TensorView& view, T* target) {
  const auto* source = static_cast<const T*>(view.data());
  const Strides& stride = view.strides();
  for (std::int64_t b = 0; b < view.dim(0); ++b) {
    for (std::int64_t h = 0; h < view.dim(1); ++h) {
      for (std::int64_t t = 0; t < view.dim(2); ++t) {
        const T* row = source + b * stride[0] + h * stride[1] + t * stride[2];
        for (std::int64_t d = 0; d < view.dim(3); ++d) *target++ = row[d * stride[3]];
      }
    }
  }
}

}  // namespace

std::size_t bytes_of_rows(const TensorView& view) {
  return has_rows(view) ? 0 : core::checked_bytes("attention", view.shape(), size_of(view.dtype()));
}

TensorView with_rows(const TensorView& view, std::byte* place) {
  if (has_rows(view)) return view;
  core::with_type(view.dtype(), [&]<class T>(T) {
    if (view.size() > 0) copy_elements(view, reinterpret_cast<T*>(place));
  });
  return {place, view.dtype(), view.shape(), contiguous_strides(view.shape())};
}

std::size_t bytes_of_rows(std::initializer_list<const TensorView*> views) {
  std::size_t bytes = 0;
  for (const TensorView* view : views) {
    bytes = core::checked_sum("attention", {bytes, core::aligned_bytes(bytes_of_rows(*view))});
  }
  return bytes;
}

bool copy_rows(std::initializer_list<TensorView*> views, std::byte*& place) {
  bool copied = false;
  for (TensorView* view : views) {
    const std::size_t bytes = core::aligned_bytes(bytes_of_rows(*view));
    if (bytes == 0) continue;
    *view = with_rows(*view, place);
    place += bytes;
    copied = true;
  }
  return copied;
}

}  // namespace qkv
