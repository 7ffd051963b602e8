// Keys and values of earlier steps in plain tensors. kv_cache.h keeps them in a type of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

/// `past` [B, Hk, Tp, D] followed by `present` [B, Hk, T, D] along time: a new tensor [B, Hk, Tp + T, D]. Any strides;
/// either may be of length 0. Throws InvalidArgument naming present if dtypes or other extents differ.
[[nodiscard]] Tensor concat_time(const TensorView& past, const TensorView& present);

/// What happens to tokens beyond the end of a buffer: an error, or they wrap around to its start.
enum class BeyondEnd : std::uint8_t { refuse, wrap };

/// Copies `update` [B, Hk, T, D] into `buffer` [B, Hk, C, D] of the same dtype: token t of entry b goes to index
/// starts[b] + t, with wrap modulo C; later tokens overwrite earlier ones. Any strides; the two do not overlap. ONNX's
/// TensorScatter, whose modes are linear and circular. Throws InvalidArgument, before anything is written, naming
/// buffer, update or starts.
void scatter_time(const MutableTensorView& buffer, const TensorView& update, const std::vector<std::int64_t>& starts,
                  BeyondEnd beyond_end = BeyondEnd::refuse);

}  // namespace qkv
