#include "mask/broadcast.h"

namespace qkv::mask_detail {

Broadcast::Broadcast(std::string_view function, std::string_view argument, const Shape& shape)
    : function_(function), argument_(argument), shape_(shape) {
  if (shape.rank() > 4) throw InvalidArgument(function, argument, "at most 4 axes", shape.to_string());
  const Strides dense = contiguous_strides(shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int target = 4 - shape.rank() + axis;
    strides_[static_cast<std::size_t>(target)] = shape[axis] == 1 ? 0 : dense[axis];
  }
}

void Broadcast::require_fits(const Shape& wanted) const {
  for (int axis = 0; axis < shape_.rank(); ++axis) {
    const std::int64_t target = wanted[4 - shape_.rank() + axis];
    if (shape_[axis] == 1 || shape_[axis] == target) continue;
    throw InvalidArgument(function_, argument_, "a shape that broadcasts to " + wanted.to_string(), shape_.to_string());
  }
}

void require_flags(std::string_view function, std::string_view argument, const TensorView& flags) {
  if (flags.dtype() == DType::b8 || flags.dtype() == DType::u8) return;
  throw InvalidArgument(function, argument, "dtype b8 or u8", name_of(flags.dtype()));
}

Tensor copied_flags(std::string_view function, std::string_view argument, const TensorView& flags) {
  require_flags(function, argument, flags);
  return {flags, DType::b8};
}

}  // namespace qkv::mask_detail
