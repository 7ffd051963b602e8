#include "probe/map_cells.h"

#include <fmt/format.h>

namespace qkv::probe_detail {
namespace {

void check_size(std::string_view function, const MaskShape& shape, const MapSize& size) {
  const auto check = [&](std::string_view argument, std::int64_t cells, std::int64_t extent, std::string_view axis) {
    if (cells >= 1 && cells <= extent) return;
    throw InvalidArgument(function, argument, fmt::format("1 to {} = {}", axis, extent), fmt::to_string(cells));
  };
  check("size.rows", size.rows, shape.Tq, "Tq");
  check("size.columns", size.columns, shape.Tk, "Tk");
}

void divide(const Cells& rows, const Cells& columns, double heads, Tensor& sums) {
  const auto cells = sums.values<double>();
  std::size_t place = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t queries = rows.begin(r + 1) - rows.begin(r);
    for (std::int64_t c = 0; c < columns.count; ++c, ++place) {
      cells[place] /= heads * static_cast<double>(queries * (columns.begin(c + 1) - columns.begin(c)));
    }
  }
}

}  // namespace

CellSums::CellSums(std::string_view function, const MaskShape& shape, const MapSize& size, Reduce how,
                   std::size_t head_count)
    : rows{size.rows, shape.Tq}, columns{size.columns, shape.Tk}, reduce(how), heads(static_cast<double>(head_count)) {
  check_size(function, shape, size);
  values = Tensor(DType::f64, {size.rows, size.columns});
  visible = Tensor(DType::f64, {size.rows, size.columns});
}

std::vector<QueryRange> CellSums::tasks() const {
  constexpr std::int64_t kQueriesOfTask = 4 * kernels::kTile;
  const std::int64_t rows_of_task = std::max<std::int64_t>(1, kQueriesOfTask * rows.count / rows.extent);
  std::vector<QueryRange> tasks;
  for (std::int64_t row = 0; row < rows.count; row += rows_of_task) {
    tasks.push_back({rows.begin(row), rows.begin(std::min(row + rows_of_task, rows.count))});
  }
  return tasks;
}

std::int64_t CellSums::pairs(const kernels::Problem& problem, const HeadPlace& head) const {
  std::int64_t pairs = 0;
  for (const QueryRange& queries : tasks()) pairs += count_pairs(problem, head, queries);
  return pairs;
}

void CellSums::finish() {
  if (reduce == Reduce::mean) {
    divide(rows, columns, heads, values);
  } else {
    for (double& most : values.values<double>()) most /= heads;
  }
  divide(rows, columns, heads, visible);
}

}  // namespace qkv::probe_detail
