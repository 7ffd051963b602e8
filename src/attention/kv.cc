#include "qkv/kv.h"

#include <cstddef>
#include <cstring>

namespace qkv {
namespace {

void check_fit(const TensorView& past, const TensorView& present) {
  if (past.rank() != 4) {
    throw InvalidArgument("concat_time", "past", "a shape [B, Hk, Tp, D]", past.shape().to_string());
  }
  if (present.dtype() != past.dtype()) {
    throw InvalidArgument("concat_time", "present", std::string(name_of(past.dtype())) + " as past",
                          name_of(present.dtype()));
  }
  if (present.rank() != 4 || present.shape().without(2) != past.shape().without(2)) {
    throw InvalidArgument("concat_time", "present", "the B, Hk and D of past " + past.shape().to_string(),
                          present.shape().to_string());
  }
}

}  // namespace

Tensor concat_time(const TensorView& past, const TensorView& present) {
  check_fit(past, present);
  const Tensor first(past);
  const Tensor second(present);
  Tensor joined(past.dtype(), {past.dim(0), past.dim(1), past.dim(2) + present.dim(2), past.dim(3)});
  const auto row_bytes = [](const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.dim(2) * tensor.dim(3)) * size_of(tensor.dtype());
  };
  auto* target = static_cast<std::byte*>(joined.data());
  for (std::int64_t row = 0; row < past.dim(0) * past.dim(1); ++row) {
    for (const Tensor* part : {&first, &second}) {
      const std::size_t bytes = row_bytes(*part);
      if (bytes > 0) {
        std::memcpy(target, static_cast<const std::byte*>(part->data()) + static_cast<std::size_t>(row) * bytes, bytes);
      }
      target += bytes;
    }
  }
  return joined;
}

}  // namespace qkv
