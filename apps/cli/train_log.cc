#include "train_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "qkv/files.h"
#include "qkv/picture/chart.h"

namespace qkv::cli {
namespace {

using Json = nlohmann::ordered_json;

// A run that was killed may have left half a line.
std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    Json line = Json::parse(text, nullptr, false);
    if (line.is_object() && line.contains("step")) lines.push_back(std::move(line));
  }
  return lines;
}

void add_point(Series& series, const Json& line, const char* value) {
  if (!line.contains(value) || !line[value].is_number()) return;
  series.x.push_back(line["step"].get<double>());
  series.y.push_back(line[value].get<double>());
}

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

}  // namespace

TrainLog::TrainLog(std::string path, std::int64_t done) : path_(std::move(path)) {
  std::string kept;
  if (done > 0) {
    for (const Json& line : lines_of(path_)) {
      if (line["step"].get<std::int64_t>() <= done) kept += line.dump() + "\n";
    }
  }
  write_file(path_, kept);
}

void TrainLog::append(const Json& line) const {
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << "\n" << std::flush;
  if (!file) throw Error("cannot write " + path_ + ": " + std::generic_category().message(errno));
}

std::vector<Json> TrainLog::lines() const { return lines_of(path_); }

void TrainLog::draw(const std::string& title, const std::string& directory) const {
  Series training{.name = "training", .x = {}, .y = {}};
  Series held_out{.name = "held out", .x = {}, .y = {}};
  for (const Json& line : lines_of(path_)) {
    add_point(training, line, "loss");
    add_point(held_out, line, "held_out_loss");
  }
  if (training.x.empty()) return;
  Chart chart;
  chart.title = title;
  chart.x.name = "step";
  chart.x.unit = Unit::count;
  chart.y = loss_axis(training, held_out);
  chart.series.push_back(std::move(training));
  if (!held_out.x.empty()) chart.series.push_back(std::move(held_out));
  write_file(directory + "/loss.svg", to_svg(chart));
  write_file(directory + "/loss.png", to_png(chart));
}

}  // namespace qkv::cli
