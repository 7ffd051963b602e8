#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/api/train.h"

namespace qkv {
namespace {

// Logarithmic where the losses span a factor of ten; it ends at powers of ten, so that there are two to read at.
Axis loss_axis(const Series& training, const Series& held_out) {
  Axis axis;
  axis.name = "loss";
  if (training.y.empty()) return axis;
  double least = training.y.front();
  double most = least;
  for (const Series* series : {&training, &held_out}) {
    for (const double loss : series->y) {
      least = std::min(least, loss);
      most = std::max(most, loss);
    }
  }
  constexpr double kTen = 10;
  if (!(least > 0) || most < kTen * least) return axis;
  axis.name = "loss (logarithmic)";
  axis.scale = AxisScale::logarithmic;
  axis.low = std::pow(kTen, std::floor(std::log10(least)));
  axis.high = std::pow(kTen, std::ceil(std::log10(most)));
  return axis;
}

void add_point(Series& series, const LoggedStep& step, double loss) {
  series.x.push_back(static_cast<double>(step.step));
  series.y.push_back(loss);
}

}  // namespace

Chart loss_chart(const std::vector<LoggedStep>& log, std::string title) {
  Series training{.name = "training", .x = {}, .y = {}};
  Series held_out{.name = "held out", .x = {}, .y = {}};
  for (const LoggedStep& step : log) {
    add_point(training, step, step.loss);
    if (step.held_out_loss) add_point(held_out, step, *step.held_out_loss);
  }
  Chart chart;
  chart.title = std::move(title);
  chart.x.name = "step";
  chart.x.unit = Unit::count;
  chart.y = loss_axis(training, held_out);
  chart.series.push_back(std::move(training));
  if (!held_out.x.empty()) chart.series.push_back(std::move(held_out));
  return chart;
}

}  // namespace qkv
