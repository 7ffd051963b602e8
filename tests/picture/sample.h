// Heatmaps that several tests draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/picture/heatmap.h"

namespace qkv::picture {

/// rows x columns weights between 0 and 1, with labels; causal ones hide what lies above the diagonal.
enum class Sight : std::uint8_t { all, causal };
inline Heatmap sample(std::int64_t rows, std::int64_t columns, Sight sight = Sight::all) {
  Heatmap heatmap;
  heatmap.title = "Weights";
  heatmap.row_axis = "query";
  heatmap.column_axis = "key";
  heatmap.value_name = "weight";
  heatmap.values = Tensor(DType::f64, {rows, columns});
  if (sight == Sight::causal) heatmap.hidden = Tensor(DType::b8, {rows, columns});
  for (std::int64_t row = 0; row < rows; ++row) {
    heatmap.row_labels.push_back("row" + std::to_string(row));
    for (std::int64_t column = 0; column < columns; ++column) {
      heatmap.values.set({row, column}, static_cast<double>((row * 7 + column * 3) % 11) / 10);
      if (sight == Sight::causal && column > row) heatmap.hidden.set({row, column}, 1);
    }
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    heatmap.column_labels.push_back("column" + std::to_string(column));
  }
  return heatmap;
}

}  // namespace qkv::picture
