#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <span>

#include "picture/document.h"
#include "picture/plot.h"
#include "picture/typography.h"
#include "qkv/picture/chart.h"

namespace qkv {
namespace {

using namespace picture;

constexpr double kMargin = 18;
constexpr double kPlotWidth = 470;
constexpr double kPlotHeight = 290;
constexpr double kLongestName = 190;
constexpr double kNameSpacing = 15;
constexpr double kSwatch = 28;
constexpr double kNamesGap = 12;
constexpr std::size_t kMostMarkers = 40;  // points of a series that are marked one by one
constexpr Rgb kGridLine{.red = 0xe6, .green = 0xe8, .blue = 0xec};
constexpr Rgb kReferenceLine{.red = 0x6c, .green = 0x70, .blue = 0x7a};

/// A name beside the plot, at the height where its line ends, or as near to it as other names allow.
struct EndName {
  std::string text;
  double y = 0;                      // from the plot's top
  std::optional<std::size_t> place;  // of its series; none for a reference
};

/// A name above the plot, over its upright line.
struct TopName {
  std::string text;
  double x = 0;  // its middle, from the plot's left
  int row = 0;   // 0 is next to the plot
};

struct ChartLayout {
  Plot plot;
  std::vector<std::string> title;
  std::vector<EndName> end_names;
  std::vector<TopName> top_names;
  double left = 0, top = 0;  // of the plot
  double width = 0, height = 0;
};

/// Moves names apart from the top down, then up again if the last ones would leave the plot.
void spread(std::vector<EndName>& names) {
  std::ranges::sort(names, [](const EndName& a, const EndName& b) { return a.y != b.y ? a.y < b.y : a.text < b.text; });
  for (std::size_t i = 1; i < names.size(); ++i) names[i].y = std::max(names[i].y, names[i - 1].y + kNameSpacing);
  double limit = std::max(kPlotHeight, static_cast<double>(names.size()) * kNameSpacing - kNameSpacing);
  for (std::size_t i = names.size(); i-- > 0;) {
    names[i].y = std::min(names[i].y, limit);
    limit = names[i].y - kNameSpacing;
  }
}

std::vector<EndName> end_names(const Plot& plot, const Ruler& ruler) {
  std::vector<EndName> names;
  for (const PlotSeries& series : plot.series) {
    if (series.name.empty()) continue;
    const std::string text = ruler.fitted(series.name, kLabel, kLongestName);
    names.push_back({text, (1 - last_height(series)) * kPlotHeight, series.place});
  }
  for (const PlotReference& reference : plot.references) {
    if (reference.across != Reference::Across::y || reference.name.empty()) continue;
    const std::string text = ruler.fitted(reference.name, kLabel, kLongestName);
    names.push_back({text, (1 - reference.at) * kPlotHeight, {}});
  }
  spread(names);
  return names;
}

std::vector<TopName> top_names(const Plot& plot, const Ruler& ruler) {
  std::vector<TopName> names;
  for (const PlotReference& reference : plot.references) {
    if (reference.across != Reference::Across::x || reference.name.empty()) continue;
    const std::string text = ruler.fitted(reference.name, kSmall, kLongestName);
    const double half = ruler.width(text, kSmall) / 2;
    TopName name{.text = text, .x = std::clamp(reference.at * kPlotWidth, half, kPlotWidth - half), .row = 0};
    const auto collides = [&](const TopName& other) {
      return other.row == name.row && std::fabs(other.x - name.x) < half + ruler.width(other.text, kSmall) / 2 + 8;
    };
    while (std::ranges::any_of(names, collides)) ++name.row;
    names.push_back(std::move(name));
  }
  return names;
}

/// Leaves out labels that would run into their neighbour on the left.
void thin_out(PlotAxis& axis, const Ruler& ruler) {
  double free_from = -HUGE_VAL;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double half = ruler.width(axis.labels[i], kSmall) / 2;
    const double x = axis.fraction(axis.ticks[i]) * kPlotWidth;
    if (x - half < free_from) {
      axis.labels[i].clear();
    } else {
      free_from = x + half + 8;
    }
  }
}

ChartLayout lay_out(Plot plot) {
  const Ruler ruler;
  ChartLayout layout;
  thin_out(plot.x, ruler);
  layout.end_names = end_names(plot, ruler);
  layout.top_names = top_names(plot, ruler);
  layout.title = ruler.wrapped(plot.title, kPageTitle, kPlotWidth + 60);

  double labels = 0;
  for (const std::string& label : plot.y.labels) labels = std::max(labels, ruler.width(label, kSmall));
  double right = plot.x.labels.empty() ? 0 : ruler.width(plot.x.labels.back(), kSmall) / 2;
  for (const EndName& name : layout.end_names) {
    right = std::max(right, kNamesGap + kSwatch + 6 + ruler.width(name.text, kLabel));
  }
  int rows = 0;
  for (const TopName& name : layout.top_names) rows = std::max(rows, name.row + 1);

  plot.x.name = ruler.fitted(plot.x.name, kLabel, kPlotWidth);
  plot.y.name = ruler.fitted(plot.y.name, kLabel, kPlotWidth);
  layout.left = kMargin + labels + 8;
  layout.top = kMargin + static_cast<double>(layout.title.size()) * 1.35 * kPageTitle.size +
               (layout.title.empty() ? 0 : 10) + (plot.y.name.empty() ? 4 : 20) + rows * 13;
  layout.width = layout.left + kPlotWidth + right;
  for (const std::string& line : layout.title) {
    layout.width = std::max(layout.width, kMargin + ruler.width(line, kPageTitle));
  }
  layout.width = std::ceil(layout.width + kMargin);
  const double names_end = layout.end_names.empty() ? 0 : layout.end_names.back().y + kNameSpacing - kPlotHeight;
  layout.height =
      std::ceil(layout.top + kPlotHeight + std::max(names_end, 20 + (plot.x.name.empty() ? 0.0 : 16.0)) + kMargin);
  layout.plot = std::move(plot);
  return layout;
}

void stroke(cairo_t* cr, Rgb colour, double width) {
  set_colour(cr, colour);
  cairo_set_line_width(cr, width);
  cairo_stroke(cr);
}

void paint_axes(cairo_t* cr, const Plot& plot) {
  for (std::size_t i = 0; i < plot.y.ticks.size(); ++i) {
    const double y = (1 - plot.y.fraction(plot.y.ticks[i])) * kPlotHeight;
    cairo_move_to(cr, 0, y);
    cairo_line_to(cr, kPlotWidth, y);
    draw_text(cr, plot.y.labels[i], -8, y + half_height(kSmall), kSmall, kSoftInk, Anchor::end);
    cairo_new_sub_path(cr);
  }
  stroke(cr, kGridLine, 0.75);
  for (std::size_t i = 0; i < plot.x.ticks.size(); ++i) {
    const double x = plot.x.fraction(plot.x.ticks[i]) * kPlotWidth;
    cairo_move_to(cr, x, kPlotHeight);
    cairo_line_to(cr, x, kPlotHeight + 4);
  }
  cairo_move_to(cr, 0, kPlotHeight);
  cairo_line_to(cr, kPlotWidth, kPlotHeight);
  stroke(cr, kRule, 0.9);
  for (std::size_t i = 0; i < plot.x.ticks.size(); ++i) {
    draw_text(cr, plot.x.labels[i], plot.x.fraction(plot.x.ticks[i]) * kPlotWidth, kPlotHeight + 15, kSmall, kSoftInk,
              Anchor::middle);
  }
  draw_text(cr, plot.x.name, kPlotWidth / 2, kPlotHeight + 32, kLabel, kSoftInk, Anchor::middle);
}

constexpr std::array<double, 2> kReferenceDash = {4, 3};

void set_dashes(cairo_t* cr, std::span<const double> dashes) {
  cairo_set_dash(cr, dashes.data(), static_cast<int>(dashes.size()), 0);
}

/// The first line is solid; later ones are dashed, so that it shows through them.
std::span<const double> dashes_of(const PlotSeries& series) {
  static const std::array<std::vector<double>, 7> kDashes = {
      {{}, {9, 5}, {2.5, 3.5}, {10, 4, 2.5, 4}, {16, 7}, {5, 4}, {10, 4, 2.5, 4, 2.5, 4}}};
  return kDashes[series.place % kDashes.size()];
}

/// A circle, square, triangle or diamond around a point, filled or not, so that two on one point can both be seen.
void paint_mark(cairo_t* cr, const PlotSeries& series, double x, double y) {
  constexpr double kRadius = 3;
  constexpr std::array<int, 4> kCorners = {0, 4, 3, 4};
  const std::size_t shape = series.place % kCorners.size();
  cairo_new_sub_path(cr);
  if (shape == 0) cairo_arc(cr, x, y, kRadius, 0, 2 * std::numbers::pi);
  const double turn = shape == 1 ? std::numbers::pi / 4 : std::numbers::pi / 2;
  for (int corner = 0; corner < kCorners[shape]; ++corner) {
    const double angle = turn + 2 * std::numbers::pi * corner / kCorners[shape];
    cairo_line_to(cr, x + 1.2 * kRadius * std::cos(angle), y - 1.2 * kRadius * std::sin(angle));
  }
  cairo_close_path(cr);
  if (series.place % 2 == 0) {
    set_colour(cr, series.colour);
    cairo_fill(cr);
  } else {
    stroke(cr, series.colour, 1.2);
  }
}

void paint_references(cairo_t* cr, const Plot& plot) {
  set_dashes(cr, kReferenceDash);
  for (const PlotReference& reference : plot.references) {
    const bool upright = reference.across == Reference::Across::x;
    const double at = upright ? reference.at * kPlotWidth : (1 - reference.at) * kPlotHeight;
    cairo_move_to(cr, upright ? at : 0, upright ? 0 : at);
    cairo_line_to(cr, upright ? at : kPlotWidth, upright ? kPlotHeight : at);
  }
  stroke(cr, kReferenceLine, 0.9);
  set_dashes(cr, {});
}

void paint_series(cairo_t* cr, const PlotSeries& series) {
  bool pen_down = false;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool gap = std::isnan(series.x[i]);
    if (!gap) (pen_down ? cairo_line_to : cairo_move_to)(cr, series.x[i] * kPlotWidth, (1 - series.y[i]) * kPlotHeight);
    pen_down = !gap;
  }
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  set_dashes(cr, dashes_of(series));
  stroke(cr, series.colour, 1.8);
  set_dashes(cr, {});
  if (series.x.size() > kMostMarkers) return;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isnan(series.x[i])) paint_mark(cr, series, series.x[i] * kPlotWidth, (1 - series.y[i]) * kPlotHeight);
  }
}

void paint_names(cairo_t* cr, const ChartLayout& layout) {
  const double x = kPlotWidth + kNamesGap;
  for (const EndName& name : layout.end_names) {
    const PlotSeries* series = name.place ? &layout.plot.series[*name.place] : nullptr;
    set_dashes(cr, series == nullptr ? std::span<const double>(kReferenceDash) : dashes_of(*series));
    cairo_move_to(cr, x, name.y);
    cairo_line_to(cr, x + kSwatch, name.y);
    stroke(cr, series == nullptr ? kReferenceLine : series->colour, series == nullptr ? 0.9 : 1.8);
    set_dashes(cr, {});
    const bool marked = series != nullptr && series->x.size() <= kMostMarkers;
    if (marked) paint_mark(cr, *series, x + kSwatch / 2, name.y);
    draw_text(cr, name.text, x + kSwatch + 6, name.y + half_height(kLabel), kLabel, kInk);
  }
  int rows = 0;
  for (const TopName& name : layout.top_names) {
    rows = std::max(rows, name.row + 1);
    draw_text(cr, name.text, name.x, -5 - 13 * name.row, kSmall, kSoftInk, Anchor::middle);
  }
  draw_text(cr, layout.plot.y.name, 0, -10 - 13 * rows, kLabel, kSoftInk);
}

void paint(cairo_t* cr, const ChartLayout& layout) {
  double baseline = kMargin + kPageTitle.size;
  for (const std::string& line : layout.title) {
    draw_text(cr, line, kMargin, baseline, kPageTitle, kInk);
    baseline += 1.35 * kPageTitle.size;
  }
  cairo_translate(cr, layout.left, layout.top);
  paint_axes(cr, layout.plot);
  paint_references(cr, layout.plot);
  for (const PlotSeries& series : layout.plot.series) paint_series(cr, series);
  paint_names(cr, layout);
}

std::string describe(const Chart& chart, const Plot& plot) {
  std::string text = fmt::format("Line chart of {} over {}, from {} to {}.", plot.y.name.empty() ? "y" : plot.y.name,
                                 plot.x.name.empty() ? "x" : plot.x.name, in_unit(plot.x.low, chart.x.unit),
                                 in_unit(plot.x.high, chart.x.unit));
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.y.empty()) continue;
    text += fmt::format(" {}: {} to {}.", plot.series[i].name.empty() ? "Line" : plot.series[i].name,
                        in_unit(series.y.front(), chart.y.unit), in_unit(series.y.back(), chart.y.unit));
  }
  return text;
}

Document document_of(std::string_view function, const Chart& chart) {
  Plot plot = read_chart(function, chart, {});
  Document document;
  document.title = plot.title.empty() ? "Line chart" : plot.title;
  document.description = describe(chart, plot);
  const auto layout = std::make_shared<const ChartLayout>(lay_out(std::move(plot)));
  document.width = layout->width;
  document.height = layout->height;
  document.paint = [layout](cairo_t* cr) { paint(cr, *layout); };
  return document;
}

}  // namespace

std::string to_svg(const Chart& chart) { return svg_of(document_of("to_svg", chart)); }

std::string to_png(const Chart& chart, double pixels_per_point) {
  return png_of(document_of("to_png", chart), pixels_per_point, "to_png");
}

std::string to_pdf(const Chart& chart) { return pdf_of(document_of("to_pdf", chart)); }

}  // namespace qkv
