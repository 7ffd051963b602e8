#include "mask/toeplitz_bias.h"

#include <algorithm>
#include <array>

namespace qkv::bias_detail {
namespace {

// The diagonals of a block, from its lower left corner to its upper right one.
constexpr std::size_t kMostDiagonals = 2 * kBlock - 1;

std::size_t diagonals_of(const Tile& tile) {
  return static_cast<std::size_t>(tile.i_end - tile.i_begin + tile.j_end - tile.j_begin - 1);
}

}  // namespace

double ToeplitzNode::at(const Place& place, const MaskShape& shape) const {
  double value = 0;
  write_diagonals(place.h, distance(place.i, place.j, shape), {&value, 1}, shape);
  return value;
}

void ToeplitzNode::add_row(const Place& first, std::span<double> row, const MaskShape& shape) const {
  std::array<double, kMostDiagonals> buffer{};
  std::int64_t start = distance(first.i, first.j, shape);
  while (!row.empty()) {
    const std::span<double> values = std::span(buffer).first(std::min(row.size(), buffer.size()));
    write_diagonals(first.h, start, values, shape);
    for (std::size_t c = 0; c < values.size(); ++c) row[c] += values[c];
    row = row.subspan(values.size());
    start += static_cast<std::int64_t>(values.size());
  }
}

void ToeplitzNode::add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const {
  std::array<double, kMostDiagonals> values{};
  write_diagonals(tile.h, distance(tile.i_end - 1, tile.j_begin, shape), std::span(values).first(diagonals_of(tile)),
                  shape);
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, rows += row_stride) {
    const double* row = values.data() + (tile.i_end - 1 - i);
    for (std::int64_t c = 0; c < tile.j_end - tile.j_begin; ++c) rows[c] += row[c];
  }
}

void ToeplitzNode::write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const {
  std::array<double, kMostDiagonals> exact{};
  const std::span<double> values = std::span(exact).first(diagonals_of(tile));
  write_diagonals(tile.h, distance(tile.i_end - 1, tile.j_begin, shape), values, shape);
  std::array<float, kMostDiagonals> rounded{};
  std::ranges::transform(values, rounded.begin(), [](double value) { return static_cast<float>(value); });
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, rows += row_stride) {
    std::copy_n(rounded.data() + (tile.i_end - 1 - i), tile.j_end - tile.j_begin, rows);
  }
}

void ToeplitzNode::add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                                const MaskShape& shape) const {
  std::array<double, kMostDiagonals> sums{};
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, d_scores += row_stride) {
    double* row = sums.data() + (tile.i_end - 1 - i);
    for (std::int64_t c = 0; c < tile.j_end - tile.j_begin; ++c) row[c] += d_scores[c];
  }
  add_diagonals(distance(tile.i_end - 1, tile.j_begin, shape), std::span(sums).first(diagonals_of(tile)), cells);
}

}  // namespace qkv::bias_detail
