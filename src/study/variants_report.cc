#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/counted.h"
#include "qkv/study/variants.h"

namespace qkv {
namespace {

std::string described(const VariantSetup& setup) {
  return fmt::format("{} of width {}, {}, f32, {}", core::counted(setup.heads, "head"), setup.head_dim,
                     setup.causal ? "causal" : "not causal", core::counted(setup.threads, "thread"));
}

std::string share(const std::optional<double>& value) { return value ? fmt::format("{:.1f} %", *value * 100) : "-"; }

constexpr std::size_t kNameWidth = 14;  // of the variants that are always there

// A longer name, that of a mask as given, has a line of its own.
std::string row_of(const VariantCost& cost) {
  const bool is_long = cost.variant.size() > kNameWidth;
  std::string row =
      fmt::format("{:>6}  {:<{}}", in_unit(static_cast<double>(cost.tokens), Unit::tokens), cost.variant, kNameWidth);
  if (is_long) row += fmt::format("\n{:>{}}", "", 6 + 2 + kNameWidth);
  if (!cost.skipped.empty()) return row + "  skipped: " + cost.skipped + "\n";
  return row + fmt::format("  {:>8}  {:>8}  {:>7.1e}  {:>7.1e}  {:>7}  {:>7}\n", in_unit(cost.seconds, Unit::seconds),
                           cost.bytes ? in_unit(static_cast<double>(*cost.bytes), Unit::bytes) : "-",
                           cost.relative_error, cost.largest_error, share(cost.pairs), share(cost.tiles));
}

using Figure = double (*)(const VariantCost&);

/// The axis' ends, so that no line lies on the frame.
void leave_margins(Axis& axis, const std::vector<Series>& series) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const Series& one : series) {
    for (const double y : one.y) {
      if (!std::isfinite(y)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  if (high == 0) return;
  axis.low = low / 1.5;
  axis.high = high * 1.5;
}

VariantChart chart_of(const VariantSetup& setup, const std::vector<VariantCost>& costs, const std::string& name,
                      const std::string& title, Axis axis, Figure figure) {
  Chart chart;
  chart.title = fmt::format("{}: {}", title, described(setup));
  chart.x = logarithmic_axis("tokens", Unit::tokens);
  for (const std::string& variant : variant_names(setup)) {
    Series series = {.name = variant, .x = {}, .y = {}};
    for (const VariantCost& cost : costs) {
      if (cost.variant != variant || !cost.skipped.empty()) continue;
      const double value = figure(cost);
      series.x.push_back(static_cast<double>(cost.tokens));
      series.y.push_back(value > 0 ? value : std::numeric_limits<double>::quiet_NaN());  // no place on this axis
    }
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  leave_margins(axis, chart.series);
  chart.y = std::move(axis);
  return {.name = name, .chart = std::move(chart)};
}

}  // namespace

std::string_view name_of(InputData data) noexcept { return data == InputData::local ? "local" : "random"; }

std::string variants_table(const VariantSetup& setup, const std::vector<VariantCost>& costs) {
  std::string text = fmt::format("Attention and its variants: {}\n", described(setup));
  text += fmt::format("{} inputs, seed {}; window({}), strided({}), blocks of {}\n\n", name_of(setup.data), setup.seed,
                      setup.window, setup.stride, setup.block);
  text += fmt::format("{:>6}  {:<{}}  {:>8}  {:>8}  {:>7}  {:>7}  {:>7}  {:>7}\n", "T", "variant", kNameWidth, "time",
                      "memory", "rms", "max", "pairs", "tiles");
  std::int64_t tokens = 0;
  for (const VariantCost& cost : costs) {
    if (cost.tokens != tokens && tokens != 0) text += '\n';
    tokens = cost.tokens;
    text += row_of(cost);
  }
  return text + fmt::format(
                    "\ntime: the median of at most {}, after others until they get no faster.\n"
                    "memory: the most bytes on the heap at once in a call, without inputs and out.\n"
                    "rms, max: the error against exact attention in f64, over {} rows of each head;\n"
                    "rms is relative to the rows' own root mean square, so that zeros have 1.\n"
                    "pairs: share of T x T that counts. tiles: share of 64 x 64 tiles computed.\n",
                    core::counted(setup.repeats, "run"), kSampledRows);
}

std::vector<VariantChart> variants_charts(const VariantSetup& setup, const std::vector<VariantCost>& costs) {
  const std::string error_axis = fmt::format("rms error, relative to exact attention, {} inputs", name_of(setup.data));
  std::vector<VariantChart> charts = {
      chart_of(setup, costs, "time", "Time", logarithmic_axis("time of a call", Unit::seconds),
               [](const VariantCost& cost) { return cost.seconds; }),
      chart_of(setup, costs, "memory", "Memory", logarithmic_axis("bytes beside the inputs and out", Unit::bytes),
               [](const VariantCost& cost) { return static_cast<double>(cost.bytes.value_or(0)); }),
      chart_of(setup, costs, "error", "Error", logarithmic_axis(error_axis, Unit::plain),
               [](const VariantCost& cost) { return cost.relative_error; }),
  };
  charts.back().chart.references.push_back({.name = "an out of zeros", .across = Reference::Across::y, .at = 1});
  return charts;
}

}  // namespace qkv
