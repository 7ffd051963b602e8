#include "picture/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace qkv::picture {
namespace {

void check_labels(std::string_view function, std::string_view argument, const std::vector<std::string>& labels,
                  std::int64_t count) {
  if (labels.empty() || static_cast<std::int64_t>(labels.size()) == count) return;
  throw InvalidArgument(function, argument, fmt::format("no labels or {}, one for each", count),
                        fmt::format("{} labels", labels.size()));
}

void check_ends(std::string_view function, const Heatmap& heatmap) {
  const auto check_finite = [&](std::string_view name, std::optional<double> end) {
    if (end && !std::isfinite(*end)) throw InvalidArgument(function, name, "a finite number", fmt::format("{}", *end));
  };
  check_finite("low", heatmap.low);
  check_finite("high", heatmap.high);
  if (heatmap.low && heatmap.high && !(*heatmap.low < *heatmap.high)) {
    throw InvalidArgument(function, "low", fmt::format("a number below high ({})", *heatmap.high),
                          fmt::format("{}", *heatmap.low));
  }
}

void check_places(std::string_view function, std::string_view argument, std::optional<std::int64_t> places,
                  std::int64_t count) {
  if (!places || *places >= count) return;
  throw InvalidArgument(function, argument, fmt::format("{} or more", count), fmt::format("{}", *places));
}

void check_logarithmic(std::string_view function, const Heatmap& heatmap) {
  if (heatmap.scale == ColourScale::linear) return;
  if (heatmap.colours == ColourMap::diverging) {
    throw InvalidArgument(function, "scale", "linear with diverging colours", "logarithmic");
  }
  const auto check_positive = [&](std::string_view name, std::optional<double> end) {
    if (end && !(*end > 0)) throw InvalidArgument(function, name, "a number above 0", fmt::format("{}", *end));
  };
  check_positive("low", heatmap.low);
  check_positive("high", heatmap.high);
}

void check(std::string_view function, const Heatmap& heatmap) {
  if (heatmap.values.rank() != 2) {
    throw InvalidArgument(function, "values", "a matrix [rows, columns]", heatmap.values.shape().to_string());
  }
  if (!heatmap.hidden.empty() && heatmap.hidden.shape() != heatmap.values.shape()) {
    throw InvalidArgument(function, "hidden", "the shape of values, " + heatmap.values.shape().to_string(),
                          heatmap.hidden.shape().to_string());
  }
  check_labels(function, "row_labels", heatmap.row_labels, heatmap.values.dim(0));
  check_labels(function, "column_labels", heatmap.column_labels, heatmap.values.dim(1));
  if (heatmap.decimals < 0 || heatmap.decimals > 15) {
    throw InvalidArgument(function, "decimals", "0 to 15", fmt::format("{}", heatmap.decimals));
  }
  check_places(function, "row_places", heatmap.row_places, heatmap.values.dim(0));
  check_places(function, "column_places", heatmap.column_places, heatmap.values.dim(1));
  check_ends(function, heatmap);
  check_logarithmic(function, heatmap);
}

Cell classify(double value, bool hidden) {
  if (hidden || value == -std::numeric_limits<double>::infinity()) return Cell::hidden;
  return std::isnan(value) ? Cell::not_a_number : Cell::number;
}

std::vector<std::string> in_one_line_each(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(one_line(text));
  return out;
}

Grid read(const Heatmap& heatmap) {
  Grid grid;
  grid.rows = heatmap.values.dim(0);
  grid.columns = heatmap.values.dim(1);
  grid.values = heatmap.values.to_vector();
  const std::vector<double> hidden = heatmap.hidden.empty() ? std::vector<double>{} : heatmap.hidden.to_vector();
  grid.cells.reserve(grid.values.size());
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    grid.cells.push_back(classify(grid.values[i], !hidden.empty() && hidden[i] != 0));
    grid.has_hidden |= grid.cells.back() == Cell::hidden;
    grid.has_not_a_number |= grid.cells.back() == Cell::not_a_number;
  }
  grid.row_labels = in_one_line_each(heatmap.row_labels);
  grid.column_labels = in_one_line_each(heatmap.column_labels);
  grid.title = one_line(heatmap.title);
  grid.row_axis = one_line(heatmap.row_axis);
  grid.column_axis = one_line(heatmap.column_axis);
  const auto places_of = [](std::optional<std::int64_t> places, std::int64_t count) {
    return places && count > 0 ? static_cast<double>(*places) / static_cast<double>(count) : 1;
  };
  grid.row_places = places_of(heatmap.row_places, grid.rows);
  grid.column_places = places_of(heatmap.column_places, grid.columns);
  grid.scale.colours = heatmap.colours;
  grid.scale.spacing = heatmap.scale;
  grid.scale.value_name = one_line(heatmap.value_name);
  grid.scale.yes_or_no = heatmap.yes_or_no;
  return grid;
}

struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double least_positive = std::numeric_limits<double>::infinity();

  void add(const Grid& grid) {
    for (std::size_t i = 0; i < grid.values.size(); ++i) {
      if (grid.cells[i] != Cell::number || !std::isfinite(grid.values[i])) continue;
      least = std::min(least, grid.values[i]);
      most = std::max(most, grid.values[i]);
      if (grid.values[i] > 0) least_positive = std::min(least_positive, grid.values[i]);
    }
  }
};

void set_logarithmic_ends(std::string_view function, Scale& scale, const Extent& extent, const Heatmap& heatmap) {
  if (extent.least < 0) {
    throw InvalidArgument(function, "values", "no number below 0 on a logarithmic scale",
                          fmt::format("{}", extent.least));
  }
  constexpr double kWidest = 1e6;
  constexpr double kNarrowest = 10;
  const bool any = std::isfinite(extent.least_positive);
  scale.high = heatmap.high.value_or(any ? extent.most : heatmap.low.value_or(0.1) * kNarrowest);
  scale.low = heatmap.low.value_or(std::max(any ? extent.least_positive : 0, scale.high / kWidest));
  if (scale.low < scale.high) return;
  (heatmap.low ? scale.high : scale.low) = heatmap.low ? scale.low * kNarrowest : scale.high / kNarrowest;
}

void set_ends(std::string_view function, Scale& scale, const Extent& extent, const Heatmap& heatmap) {
  if (scale.spacing == ColourScale::logarithmic) return set_logarithmic_ends(function, scale, extent, heatmap);
  const bool any = extent.least <= extent.most;
  const double least = any ? extent.least : 0;
  const double most = any ? extent.most : 0;
  if (scale.colours == ColourMap::diverging) {
    double bound = std::max(std::fabs(least), std::fabs(most));
    if (heatmap.low || heatmap.high) {
      bound = std::max(std::fabs(heatmap.low.value_or(0)), std::fabs(heatmap.high.value_or(0)));
    }
    if (bound == 0) bound = 1;
    scale.low = -bound;
    scale.high = bound;
    return;
  }
  scale.low = heatmap.low.value_or(std::min(least, 0.0));
  scale.high = heatmap.high.value_or(most);
  if (!heatmap.low && !heatmap.high && least == most && most < 0) scale.high = 0;
  if (scale.low < scale.high) return;
  if (heatmap.high) {
    scale.low = scale.high - std::max(1.0, std::fabs(scale.high));
  } else {
    scale.high = scale.low + std::max(1.0, std::fabs(scale.low));
  }
}

void note_values_beyond(Grid& grid) {
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    if (grid.cells[i] != Cell::number) continue;
    grid.scale.beyond_low |= grid.values[i] < grid.scale.low;
    grid.scale.beyond_high |= grid.values[i] > grid.scale.high;
  }
}

bool has_own_ends(const Heatmap& heatmap) { return heatmap.low || heatmap.high; }

bool compared(const Heatmap& a, const Heatmap& b) {
  return a.colours == b.colours && a.scale == b.scale && a.value_name == b.value_name && !has_own_ends(a) &&
         !has_own_ends(b);
}

}  // namespace

double Scale::fraction(double value) const {
  if (value <= low) return 0;
  if (value >= high) return 1;
  if (spacing == ColourScale::logarithmic) return std::log(value / low) / std::log(high / low);
  // In long double, the difference of two doubles neither overflows nor underflows.
  return static_cast<double>((static_cast<long double>(value) - low) / (static_cast<long double>(high) - low));
}

int Scale::power() const {
  if (!style.scientific || spacing == ColourScale::logarithmic) return 0;
  return static_cast<int>(std::floor(std::log10(std::max(std::fabs(low), std::fabs(high)))));
}

std::string Scale::meaning() const {
  std::string text = value_name;
  if (spacing == ColourScale::logarithmic) text += text.empty() ? "log" : ", log";
  if (power() != 0) text += fmt::format("{}cells in 1e{}", text.empty() ? "" : ", ", power());
  return text;
}

std::string Scale::cell(double value) const {
  constexpr double kWidest = 1e6;
  const double in_power = value / std::pow(10.0, power());
  if (!std::isfinite(value) || std::fabs(in_power) >= kWidest) return number(value);
  if (value == 0) return "0";
  const NumberStyle fixed{false, style.scientific ? 2 : style.decimals};
  if (std::fabs(in_power) < 0.5 * std::pow(10.0, -fixed.decimals)) return "≈0";
  return spacing == ColourScale::logarithmic ? number(value) : fixed(in_power);
}

std::string Scale::number(double value) const {
  // Values that differ by powers of ten keep their leading digits.
  if (spacing == ColourScale::logarithmic && std::isfinite(value)) {
    return logarithmic_tick_labels(std::array{value}).front();
  }
  return style(value);
}

bool Scale::operator==(const Scale& other) const {
  return colours == other.colours && spacing == other.spacing && low == other.low && high == other.high &&
         value_name == other.value_name && yes_or_no == other.yes_or_no;
}

std::int64_t Grid::row_number(std::int64_t row) const {
  return std::llround(std::floor(static_cast<double>(row * row_step) * row_places + 1e-6));
}

std::int64_t Grid::column_number(std::int64_t column) const {
  return std::llround(std::floor(static_cast<double>(column * column_step) * column_places + 1e-6));
}

std::string Grid::number(std::int64_t row, std::int64_t column) const {
  if (cell(row, column) == Cell::hidden) return "";
  return scale.cell(value(row, column));
}

std::vector<Grid> read_panel(std::string_view function, const Panel& panel) {
  if (panel.heatmaps.empty()) throw InvalidArgument(function, "panel", "at least one heatmap", "none");
  std::vector<Grid> grids;
  for (const Heatmap& heatmap : panel.heatmaps) {
    check(function, heatmap);
    grids.push_back(read(heatmap));
  }
  for (std::size_t i = 0; i < grids.size(); ++i) {
    Extent extent;
    extent.add(grids[i]);
    for (std::size_t j = 0; j < grids.size(); ++j) {
      if (j != i && compared(panel.heatmaps[i], panel.heatmaps[j])) extent.add(grids[j]);
    }
    set_ends(function, grids[i].scale, extent, panel.heatmaps[i]);
    const double largest = std::max(std::fabs(grids[i].scale.low), std::fabs(grids[i].scale.high));
    grids[i].scale.style = style_for(largest, panel.heatmaps[i].decimals);
    note_values_beyond(grids[i]);
  }
  return grids;
}

bool share_scale(const std::vector<Grid>& grids) {
  return std::ranges::all_of(grids, [&](const Grid& grid) { return grid.scale == grids.front().scale; });
}

Grid coarsened(const Grid& grid, std::int64_t row_step, std::int64_t column_step) {
  Grid out = grid;
  out.rows = (grid.rows + row_step - 1) / row_step;
  out.columns = (grid.columns + column_step - 1) / column_step;
  out.row_step = grid.row_step * row_step;
  out.column_step = grid.column_step * column_step;
  out.values.assign(static_cast<std::size_t>(out.rows * out.columns), 0);
  out.cells.assign(out.values.size(), Cell::hidden);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::size_t to = out.index(row / row_step, column / column_step);
      const Cell cell = grid.cell(row, column);
      const double value = grid.value(row, column);
      if (cell == Cell::hidden || out.cells[to] == Cell::not_a_number) continue;
      if (out.cells[to] == Cell::number && cell == Cell::number && std::fabs(value) <= std::fabs(out.values[to])) {
        continue;
      }
      out.cells[to] = cell;
      out.values[to] = value;
    }
  }
  const auto keep_firsts = [](std::vector<std::string>& labels, std::int64_t step) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(step)) kept.push_back(labels[i]);
    labels = std::move(kept);
  };
  keep_firsts(out.row_labels, row_step);
  keep_firsts(out.column_labels, column_step);
  return out;
}

std::string coarse_note(const Grid& grid) {
  if (grid.row_step == 1 && grid.column_step == 1) return {};
  return fmt::format("each cell shows the strongest of {} x {} (rows x columns)", grid.row_step, grid.column_step);
}

}  // namespace qkv::picture
