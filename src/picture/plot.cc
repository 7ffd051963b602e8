#include "picture/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "picture/numbers.h"
#include "qkv/error.h"

namespace qkv::picture {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Okabe and Ito (2008), without the yellow that white swallows.
constexpr std::array<Rgb, 7> kSeriesColours{{{0x00, 0x72, 0xb2},
                                             {0xd5, 0x5e, 0x00},
                                             {0x00, 0x9e, 0x73},
                                             {0xcc, 0x79, 0xa7},
                                             {0x56, 0xb4, 0xe9},
                                             {0xe6, 0x9f, 0x00},
                                             {0x60, 0x60, 0x60}}};

struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

void check(std::string_view function, std::string_view name, const Axis& axis, const ValueRange& extent) {
  const auto is_finite = [](std::optional<double> end) { return !end || std::isfinite(*end); };
  if (!is_finite(axis.low) || !is_finite(axis.high)) {
    throw InvalidArgument(function, name, "finite ends", "an infinity or NaN");
  }
  if (axis.low && axis.high && !(*axis.low < *axis.high)) {
    throw InvalidArgument(function, name, fmt::format("a low end below {}", *axis.high), fmt::format("{}", *axis.low));
  }
  const double least = std::min(extent.low, axis.low.value_or(extent.low));
  if (axis.scale == AxisScale::logarithmic && !(least > 0)) {
    throw InvalidArgument(function, name, "positive numbers on a logarithmic axis", fmt::format("{}", least));
  }
}

bool counts_in_twos(Unit unit) { return unit == Unit::bytes || unit == Unit::tokens; }

/// Round steps of bytes are powers of two.
std::vector<double> linear_ticks(double low, double high, Unit unit, int most) {
  if (unit != Unit::bytes) return round_ticks(low, high, most);
  const double largest = std::max(std::fabs(low), std::fabs(high));
  const double scale = largest > 0 ? std::pow(1024.0, std::floor(std::log2(largest) / 10)) : 1;
  std::vector<double> ticks = round_ticks(low / scale, high / scale, most);
  for (double& tick : ticks) tick *= scale;
  return ticks;
}

void set_ends(PlotAxis& out, const Axis& axis, ValueRange extent) {
  extent.low = axis.low.value_or(extent.low);
  extent.high = axis.high.value_or(extent.high);
  if (axis.scale == AxisScale::logarithmic) {
    if (!(extent.low < extent.high)) {
      extent.low = axis.low.value_or(extent.low / 2);
      extent.high = axis.high.value_or(std::min(extent.low * 4, std::numeric_limits<double>::max()));
    }
  } else {
    if (!axis.low && extent.low > 0) extent.low = 0;
    if (!axis.high && extent.high < 0) extent.high = 0;
    if (!(extent.low < extent.high)) extent.high = extent.low + std::max(1.0, std::fabs(extent.low));
  }
  out.low = extent.low;
  out.high = extent.high;
}

PlotAxis read_axis(const Axis& axis, const ValueRange& extent, int most_ticks) {
  PlotAxis out;
  out.name = one_line(axis.name);
  out.scale = axis.scale;
  set_ends(out, axis, extent);
  const bool logarithmic = axis.scale == AxisScale::logarithmic;
  out.ticks = logarithmic
                  ? logarithmic_ticks(out.low, out.high, counts_in_twos(axis.unit) ? Base::two : Base::ten, most_ticks)
                  : linear_ticks(out.low, out.high, axis.unit, most_ticks);
  if (axis.unit == Unit::plain && !logarithmic) {
    out.labels = tick_labels(out.ticks);
  } else {
    for (const double tick : out.ticks) out.labels.push_back(in_unit(tick, axis.unit));
  }
  return out;
}

PlotSeries read_series(const Series& series, const Plot& plot, std::size_t index) {
  PlotSeries out;
  out.name = one_line(series.name);
  out.colour = kSeriesColours[index % kSeriesColours.size()];
  out.place = index;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = plot.x.fraction(series.x[i]);
    const double y = plot.y.fraction(series.y[i]);
    const bool shown = x >= 0 && x <= 1 && y >= 0 && y <= 1;
    out.x.push_back(shown ? x : kNan);
    out.y.push_back(shown ? y : kNan);
  }
  return out;
}

}  // namespace

double PlotAxis::fraction(double value) const {
  if (!std::isfinite(value)) return kNan;
  if (scale == AxisScale::logarithmic) return std::log(value / low) / std::log(high / low);
  return static_cast<double>((static_cast<long double>(value) - low) / (static_cast<long double>(high) - low));
}

double last_height(const PlotSeries& series) {
  const auto last = std::find_if(series.y.rbegin(), series.y.rend(), [](double y) { return !std::isnan(y); });
  return last == series.y.rend() ? 0 : *last;
}

Plot read_chart(std::string_view function, const Chart& chart, TickLimits limits) {
  ValueRange x;
  ValueRange y;
  for (const Series& series : chart.series) {
    if (series.x.size() != series.y.size()) {
      throw InvalidArgument(function, fmt::format("series '{}'", one_line(series.name)), "as many y as x",
                            fmt::format("{} x and {} y", series.x.size(), series.y.size()));
    }
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
      x.add(series.x[i]);
      y.add(series.y[i]);
    }
  }
  if (x.empty()) throw InvalidArgument(function, "series", "at least one finite point", "none");
  for (const Reference& reference : chart.references) {
    if (!std::isfinite(reference.at)) {
      throw InvalidArgument(function, fmt::format("reference '{}'", one_line(reference.name)), "a finite place",
                            fmt::format("{}", reference.at));
    }
    (reference.across == Reference::Across::x ? x : y).add(reference.at);
  }
  check(function, "x", chart.x, x);
  check(function, "y", chart.y, y);

  Plot plot;
  plot.title = one_line(chart.title);
  plot.x = read_axis(chart.x, x, limits.x);
  plot.y = read_axis(chart.y, y, limits.y);
  for (const Series& series : chart.series) plot.series.push_back(read_series(series, plot, plot.series.size()));
  for (const Reference& reference : chart.references) {
    const PlotAxis& axis = reference.across == Reference::Across::x ? plot.x : plot.y;
    const double at = axis.fraction(reference.at);
    if (at >= 0 && at <= 1) plot.references.push_back({one_line(reference.name), reference.across, at});
  }
  return plot;
}

}  // namespace qkv::picture

namespace qkv {
namespace {

using picture::without_padded_exponent;

/// Three significant digits, without zeros behind the point.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

template <std::size_t Count>
std::string scaled(double value, double thousand, const std::array<std::string_view, Count>& prefixes) {
  std::size_t prefix = 0;
  // 999.5 would be written as 1000.
  while (prefix + 1 < Count && std::fabs(value) >= (thousand == 1000 ? 999.5 : 1023.5)) {
    value /= thousand;
    ++prefix;
  }
  if (std::fabs(value) >= 1e5) {
    return fmt::format("{} {}", without_padded_exponent(fmt::format("{:.1e}", value)), prefixes[prefix]);
  }
  const std::string number = value != 0 && std::fabs(value) < 0.005
                                 ? without_padded_exponent(fmt::format("{:.3g}", value))
                                 : three_digits(value);
  return prefixes[prefix].empty() ? number : fmt::format("{} {}", number, prefixes[prefix]);
}

std::string scaled_seconds(double value) {
  constexpr std::array<std::string_view, 4> kSeconds{"ns", "µs", "ms", "s"};
  return scaled(value * 1e9, 1000, kSeconds);
}

std::string grouped(double value) {
  if (value != std::floor(value) || std::fabs(value) >= 1e15) {
    return without_padded_exponent(fmt::format("{:g}", value));
  }
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return value < 0 ? fmt::format("-{}", digits) : digits;
}

}  // namespace

std::string in_unit(double value, Unit unit) {
  constexpr std::array<std::string_view, 7> kCounts{"", "k", "M", "G", "T", "P", "E"};
  constexpr std::array<std::string_view, 7> kBytes{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (!std::isfinite(value)) return fmt::format("{}", value);
  switch (unit) {
    case Unit::plain:
      return without_padded_exponent(fmt::format("{:.3g}", value == 0 ? 0.0 : value));
    case Unit::count:
      return scaled(value, 1000, kCounts);
    case Unit::bytes:
      return scaled(value, 1024, kBytes);
    case Unit::tokens:
      return grouped(value);
    case Unit::seconds:
      return value == 0 ? "0 s" : scaled_seconds(value);
  }
  __builtin_unreachable();
}

}  // namespace qkv
