// Tensors in the text form: nested brackets.
#pragma once

#include <string>

#include "qkv/tensor.h"

namespace qkv::mask_detail {

/// Arrays up to this size are written out; larger ones as a summary, which cannot be read back.
inline constexpr std::int64_t kMaxPrintedElements = 64;

/// "[[1, 0], [1, 1]]", or "<b8 [128, 128]>" where there are too many elements.
[[nodiscard]] std::string array_text(const TensorView& values);

/// The same of an array that is not at hand: "<b8 [128, 128]>".
[[nodiscard]] std::string summary_text(DType dtype, const Shape& shape);

/// Whether array_text() writes the elements of such an array.
[[nodiscard]] bool is_written_out(std::int64_t elements) noexcept;

/// The shortest text that reads back as the same double; "inf", "-inf" and "nan" are words of their own.
[[nodiscard]] std::string number_text(double value);

}  // namespace qkv::mask_detail
