#include "api/far/far_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/exact_math.h"

namespace qkv::api_detail {
namespace {

constexpr double kAll = 255;

struct Piece {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t first_cell;
  std::int64_t cells;
};

// Whole cells, and a rest that has one of its own.
std::vector<Piece> pieces_of(std::int64_t begin, std::int64_t end, std::int64_t side) {
  const std::int64_t whole = (end - begin) / side;
  std::vector<Piece> pieces;
  if (whole > 0) pieces.push_back({begin, begin + whole * side, 0, whole});
  if (begin + whole * side < end) pieces.push_back({begin + whole * side, end, whole, 1});
  return pieces;
}

Half logarithm(double weight) {
  if (weight == 0) return Half(-std::numeric_limits<float>::infinity());
  return Half(static_cast<float>(core::log(weight) / std::numbers::ln2));
}

double weight_of(Half logarithm) {
  return core::exp(static_cast<double>(static_cast<float>(logarithm)) * std::numbers::ln2);
}

// None is 0 and all is 255, and nothing else is.
std::uint8_t share(double visible) {
  if (visible <= 0) return 0;
  if (visible >= 1) return static_cast<std::uint8_t>(kAll);
  return static_cast<std::uint8_t>(std::clamp(std::round(visible * kAll), 1.0, kAll - 1));
}

CellMaps empty_maps(std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows, columns};
  return {
      .mean = Tensor(DType::f64, shape), .largest = Tensor(DType::f64, shape), .visible = Tensor(DType::f64, shape)};
}

constexpr std::array kParts = {&CellMaps::mean, &CellMaps::largest, &CellMaps::visible};

}  // namespace

std::size_t FarCells::bytes() const {
  return static_cast<std::size_t>(mean.size() * 2 + largest.size() * 2 + visible.size());
}

CellMaps far_map(const Probe& probe, std::int64_t h, const MapArea& area, const CellSide& side,
                 const ProbeWatch& watch) {
  const std::vector<Piece> rows = pieces_of(area.i_begin, area.i_end, side.queries);
  const std::vector<Piece> columns = pieces_of(area.j_begin, area.j_end, side.keys);
  CellMaps whole =
      empty_maps(rows.back().first_cell + rows.back().cells, columns.back().first_cell + columns.back().cells);
  const std::int64_t width = whole.mean.dim(1);
  for (const Piece& row : rows) {
    for (const Piece& column : columns) {
      const CellMaps part = probe.map({.heads = {h},
                                       .size = {row.cells, column.cells},
                                       .area = MapArea{row.begin, row.end, column.begin, column.end}},
                                      watch);
      for (Tensor CellMaps::* one : kParts) {
        const auto from = (part.*one).values<double>();
        const auto to = (whole.*one).values<double>();
        for (std::int64_t r = 0; r < row.cells; ++r) {
          std::copy_n(from.begin() + r * column.cells, column.cells,
                      to.begin() + (row.first_cell + r) * width + column.first_cell);
        }
      }
    }
  }
  return whole;
}

FarCells far_cells(const CellMaps& maps, std::int64_t row, std::int64_t column, std::int64_t rows,
                   std::int64_t columns) {
  const std::int64_t width = maps.mean.dim(1);
  rows = std::min(rows, maps.mean.dim(0) - row);
  columns = std::min(columns, width - column);
  FarCells cells{.mean = Tensor(DType::f16, {rows, columns}),
                 .largest = Tensor(DType::f16, {rows, columns}),
                 .visible = Tensor(DType::u8, {rows, columns})};
  const auto mean = cells.mean.values<Half>();
  const auto largest = cells.largest.values<Half>();
  const auto visible = cells.visible.values<std::uint8_t>();
  const auto all_means = maps.mean.values<double>();
  const auto all_largest = maps.largest.values<double>();
  const auto all_visible = maps.visible.values<double>();
  bool hidden = true;
  std::size_t to = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    auto from = static_cast<std::size_t>((row + r) * width + column);
    for (std::int64_t c = 0; c < columns; ++c, ++from, ++to) {
      mean[to] = logarithm(all_means[from]);
      largest[to] = logarithm(all_largest[from]);
      visible[to] = share(all_visible[from]);
      hidden = hidden && visible[to] == 0;
    }
  }
  return hidden ? FarCells{} : cells;
}

FoldedCells::FoldedCells(std::int64_t rows, std::int64_t columns)
    : pairs_(DType::f64, {rows, columns}), sums_(empty_maps(rows, columns)) {}

void FoldedCells::add(const FarCells& cells, std::int64_t row, std::int64_t column,
                      std::span<const std::int64_t> height, std::span<const std::int64_t> width) {
  const auto pairs = pairs_.values<double>();
  const auto mean = sums_.mean.values<double>();
  const auto visible = sums_.visible.values<double>();
  const auto largest = sums_.largest.values<double>();
  const bool is_hidden = cells.is_hidden();
  const auto means = is_hidden ? std::span<const Half>() : cells.mean.values<Half>();
  const auto most = is_hidden ? std::span<const Half>() : cells.largest.values<Half>();
  const auto shares = is_hidden ? std::span<const std::uint8_t>() : cells.visible.values<std::uint8_t>();
  std::size_t from = 0;
  for (std::size_t r = 0; r < height.size(); ++r) {
    const std::int64_t to_row = row + static_cast<std::int64_t>(r / 2);
    for (std::size_t c = 0; c < width.size(); ++c, ++from) {
      const auto to = static_cast<std::size_t>(to_row * pairs_.dim(1) + column + static_cast<std::int64_t>(c / 2));
      const auto count = static_cast<double>(height[r] * width[c]);
      pairs[to] += count;
      if (is_hidden) continue;
      mean[to] += count * weight_of(means[from]);
      visible[to] += count * shares[from] / kAll;
      const double weight = weight_of(most[from]);
      if (weight > largest[to] || std::isnan(weight)) largest[to] = weight;
    }
  }
}

FarCells FoldedCells::finished() {
  const auto pairs = pairs_.values<double>();
  const auto mean = sums_.mean.values<double>();
  const auto visible = sums_.visible.values<double>();
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    mean[n] /= pairs[n];
    visible[n] /= pairs[n];
  }
  return far_cells(sums_, 0, 0, pairs_.dim(0), pairs_.dim(1));
}

}  // namespace qkv::api_detail
