// A chart read, checked and scaled: what its painters for pages and for terminals have in common.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/picture/chart.h"
#include "qkv/picture/colour.h"

namespace qkv::picture {

struct PlotAxis {
  std::string name;
  AxisScale scale = AxisScale::linear;
  double low = 0;
  double high = 1;
  std::vector<double> ticks;
  std::vector<std::string> labels;

  [[nodiscard]] double fraction(double value) const;  // 0 at low, 1 at high; NaN for what is not finite
};

struct PlotSeries {
  std::string name;
  std::vector<double> x, y;  // fractions of the axes; NaN where there is a gap
  Rgb colour;
  std::size_t place = 0;  // among the series: lines that lie on one another differ in dashes and marks, too
};

struct PlotReference {
  std::string name;
  Reference::Across across;
  double at;  // a fraction
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  std::vector<PlotReference> references;
};

/// At most so many ticks; `function` is named in errors.
struct TickLimits {
  int x = 8;
  int y = 7;
};
[[nodiscard]] Plot read_chart(std::string_view function, const Chart& chart, TickLimits limits);

/// The height of a series' last point, where its name is written; 0 for a series without points.
[[nodiscard]] double last_height(const PlotSeries& series);

}  // namespace qkv::picture
