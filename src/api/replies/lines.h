// Lines of a reply's text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "qkv/tensor.h"

namespace qkv::api_detail {

/// `text` in lines of at most `width` columns, each after `indent` blanks; control characters of a foreign name are
/// shown as \x1b.
[[nodiscard]] std::string prose(std::string_view text, int width, int indent = 0);

/// "134,515,008", of a number that is not negative.
[[nodiscard]] std::string with_commas(std::int64_t number);

/// "1.23 GB", "45.6 MB", "7.8 kB".
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// "mask      causal & window(64)": the name in ten columns, what is too long going on under the text.
[[nodiscard]] std::string named_lines(std::string_view name, std::string_view text, int width);

/// The numbers of a matrix [rows, columns] to four digits below their column's number, counted from `column` as the
/// rows are from `row`; columns that do not fit follow below. `hidden`, b8 or empty(), marks what shows as a dot.
[[nodiscard]] std::string matrix_lines(const Tensor& matrix, const Tensor& hidden, std::int64_t row,
                                       std::int64_t column, int width);

}  // namespace qkv::api_detail
