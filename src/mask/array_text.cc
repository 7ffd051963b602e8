#include "mask/array_text.h"

#include <fmt/format.h>

#include <cmath>

namespace qkv::mask_detail {
namespace {

void append_nested(std::string& text, const TensorView& values) {
  if (values.rank() == 0) {
    text += number_text(values.at({}));
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < values.dim(0); ++i) {
    if (i > 0) text += ", ";
    append_nested(text, values.select(0, i));
  }
  text += ']';
}

}  // namespace

std::string array_text(const TensorView& values) {
  if (!is_written_out(values.size())) return summary_text(values.dtype(), values.shape());
  std::string text;
  append_nested(text, values);
  return text;
}

std::string summary_text(DType dtype, const Shape& shape) {
  return fmt::format("<{} {}>", name_of(dtype), shape.to_string());
}

bool is_written_out(std::int64_t elements) noexcept { return elements > 0 && elements <= kMaxPrintedElements; }

std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}  // namespace qkv::mask_detail
