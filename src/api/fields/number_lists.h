// Fields that hold several numbers in one text.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/probe.h"
#include "qkv/tensor.h"

namespace qkv::api_detail {

/// "2,3": numbers from 0 on. `otherwise` says what else the field takes.
[[nodiscard]] std::vector<std::int64_t> whole_numbers(std::string_view field, std::string_view text,
                                                      std::string_view otherwise = "");

/// "64" is 64 of each, "8x16" is 8 and 16, each 1 or more; `expected` says what may stand there.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> extents(std::string_view field, std::string_view text,
                                                            std::string_view expected);

/// "0:8,4:12": queries 0 to 7 and keys 4 to 11, one of each at least.
[[nodiscard]] MapArea rectangle_of(std::string_view field, std::string_view text);

/// "1,0;0,1": rows by semicolons, numbers by commas, as f64 [rows, columns].
[[nodiscard]] Tensor matrix_in(std::string_view field, std::string_view text);

}  // namespace qkv::api_detail
