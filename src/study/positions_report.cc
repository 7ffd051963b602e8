#include <fmt/format.h>

#include <algorithm>

#include "core/counted.h"
#include "qkv/study/positions.h"
#include "qkv/train/task.h"

namespace qkv {
namespace {

bool has_learned(const std::vector<PositionResult>& results) {
  return std::ranges::find(results, Positions::learned, &PositionResult::kind) != results.end();
}

std::string row_of(const PositionResult& result) {
  std::string row =
      fmt::format("{:<10}  {:<8}  {:>10}  ", name_of(result.kind), addressing_of(result.kind), result.parameters);
  if (!result.failed.empty()) return row + result.failed + "\n";
  for (const double share : result.shares) row += fmt::format("  {:>7}", fmt::format("{:.1f} %", 100 * share));
  return row + "\n";
}

}  // namespace

std::string unit_of(const PositionSetup& setup) {
  const TaskInfo& info = *std::ranges::find(tasks(), setup.task, &TaskInfo::name);
  return info.length->unit;
}

std::string positions_table(const PositionSetup& setup, const std::vector<PositionResult>& results) {
  std::string text =
      fmt::format("Which positions generalise: {}, trained at {} {}\n", setup.task, setup.train_length, unit_of(setup));
  text += fmt::format("{} of {}, width {}; {} of {},\nlearning rate {:g}, seed {}\n\n",
                      core::counted(setup.layers, "block"), core::counted(setup.heads, "head"), setup.d_model,
                      core::counted(setup.steps, "step"), core::counted(setup.batch, "example"), setup.learning_rate,
                      setup.seed);
  text += fmt::format("{:<10}  {:<8}  {:>10}  ", "positions", "they are", "parameters");
  for (const std::int64_t length : setup.test_lengths) text += fmt::format("  {:>7}", length);
  text += '\n';
  for (const PositionResult& result : results) text += row_of(result);
  text += fmt::format("\nShare of answers as expected, of {} held-out examples of each length.\n", setup.examples);
  if (has_learned(results) && all_places(setup) > trained_places(setup)) {
    text += fmt::format("learned: the table has {} rows; those from {} on were in no training text.\n",
                        all_places(setup), trained_places(setup));
  }
  return text;
}

Chart positions_chart(const PositionSetup& setup, const std::vector<PositionResult>& results) {
  Chart chart;
  chart.title = fmt::format("{}: trained at {} {}, tested at others", setup.task, setup.train_length, unit_of(setup));
  chart.x = {.name = unit_of(setup), .scale = AxisScale::logarithmic, .unit = Unit::tokens, .low = {}, .high = {}};
  chart.y = {.name = "share of answers as expected", .low = 0, .high = 1.05};
  for (const PositionResult& result : results) {
    if (!result.failed.empty()) continue;
    chart.series.push_back({.name = std::string(name_of(result.kind)),
                            .x = std::vector<double>(setup.test_lengths.begin(), setup.test_lengths.end()),
                            .y = result.shares});
  }
  chart.references.push_back(
      {.name = "trained", .across = Reference::Across::x, .at = static_cast<double>(setup.train_length)});
  return chart;
}

}  // namespace qkv
