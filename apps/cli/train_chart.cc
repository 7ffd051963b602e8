#include "train_chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/files.h"
#include "qkv/picture/chart.h"

namespace qkv::cli {
namespace {

// Logarithmic where the losses span a factor of ten; it ends at powers of ten, so that there are two to read at.
Axis loss_axis(const Series& training, const Series& held_out) {
  double least = training.y.front();
  double most = least;
  for (const Series* series : {&training, &held_out}) {
    for (const double loss : series->y) {
      least = std::min(least, loss);
      most = std::max(most, loss);
    }
  }
  constexpr double kTen = 10;
  Axis axis;
  axis.name = "loss";
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

void draw_losses(const TrainSettings& settings, const TrainPlace& place) {
  Series training{.name = "training", .x = {}, .y = {}};
  Series held_out{.name = "held out", .x = {}, .y = {}};
  for (const LoggedStep& step : read_log(place)) {
    add_point(training, step, step.loss);
    if (step.held_out_loss) add_point(held_out, step, *step.held_out_loss);
  }
  if (training.x.empty()) return;
  Chart chart;
  chart.title = settings.task + ", " + settings.model;
  chart.x.name = "step";
  chart.x.unit = Unit::count;
  chart.y = loss_axis(training, held_out);
  chart.series.push_back(std::move(training));
  if (!held_out.x.empty()) chart.series.push_back(std::move(held_out));
  write_file(place.directory + "/loss.svg", to_svg(chart));
  write_file(place.directory + "/loss.png", to_png(chart));
}

}  // namespace qkv::cli
