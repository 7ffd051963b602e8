#include "probe/map_cells.h"

#include <fmt/format.h>

#include <numeric>

#include "probe/probe_places.h"

namespace qkv::probe_detail {
namespace {

MapArea area_of(std::string_view function, const MaskShape& shape, const MapRequest& request) {
  const MapArea area = request.area.value_or(MapArea{0, shape.Tq, 0, shape.Tk});
  check_tile(function, {request.b, 0, area.i_begin, area.i_end, area.j_begin, area.j_end}, shape);
  const auto check = [&](std::string_view argument, std::int64_t cells, std::int64_t extent, std::string_view what) {
    if (cells >= 1 && cells <= extent) return;
    throw InvalidArgument(function, argument, fmt::format("1 to {} = {}", what, extent), fmt::to_string(cells));
  };
  const bool is_whole = !request.area;
  check("size.rows", request.size.rows, area.i_end - area.i_begin, is_whole ? "Tq" : "the area's queries");
  check("size.columns", request.size.columns, area.j_end - area.j_begin, is_whole ? "Tk" : "the area's keys");
  return area;
}

// The heads of each map.
std::vector<std::vector<std::int64_t>> groups_of(std::string_view function, const MaskShape& shape,
                                                 const MapRequest& request) {
  std::vector<std::int64_t> heads = request.heads;
  if (heads.empty()) {
    heads.resize(static_cast<std::size_t>(shape.H));
    std::iota(heads.begin(), heads.end(), 0);
  }
  for (const std::int64_t h : heads) check_head(function, {request.b, h}, shape);
  if (request.of == MapOf::mean) return {heads};
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::int64_t h : heads) groups.push_back({h});
  return groups;
}

}  // namespace

CellSums::CellSums(std::string_view function, const MaskShape& shape, const MapRequest& request)
    : b(request.b), groups(groups_of(function, shape, request)) {
  const MapArea area = area_of(function, shape, request);
  rows = {.count = request.size.rows, .first = area.i_begin, .extent = area.i_end - area.i_begin};
  columns = {.count = request.size.columns, .first = area.j_begin, .extent = area.j_end - area.j_begin};
  const Shape cells{std::ssize(groups), rows.count, columns.count};
  maps = {
      .mean = Tensor(DType::f64, cells), .largest = Tensor(DType::f64, cells), .visible = Tensor(DType::f64, cells)};
}

std::vector<BlockRange> CellSums::tasks() const {
  constexpr std::int64_t kQueriesOfTask = 4 * kernels::kTile;
  const std::int64_t rows_of_task = std::max<std::int64_t>(1, kQueriesOfTask * rows.count / rows.extent);
  std::vector<BlockRange> tasks;
  for (std::int64_t row = 0; row < rows.count; row += rows_of_task) {
    tasks.push_back({rows.begin(row), rows.begin(std::min(row + rows_of_task, rows.count))});
  }
  return tasks;
}

std::int64_t CellSums::pairs(const kernels::Problem& problem) const {
  std::int64_t pairs = 0;
  for (const auto& heads : groups) {
    for (const std::int64_t h : heads) {
      for (const BlockRange& queries : tasks()) pairs += count_pairs(problem, {b, h}, queries, keys());
    }
  }
  return pairs;
}

CellMaps CellSums::finished() {
  const auto heads = static_cast<double>(groups.front().size());
  const auto mean = maps.mean.values<double>();
  const auto largest = maps.largest.values<double>();
  const auto visible = maps.visible.values<double>();
  std::size_t place = 0;
  for (std::size_t map = 0; map < groups.size(); ++map) {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      for (std::int64_t c = 0; c < columns.count; ++c, ++place) {
        const double pairs = heads * static_cast<double>(rows.size(r) * columns.size(c));
        mean[place] /= pairs;
        largest[place] /= heads;
        visible[place] /= pairs;
      }
    }
  }
  return std::move(maps);
}

}  // namespace qkv::probe_detail
