// Which positions generalise, as a table, as JSON and as a chart over the length.
#pragma once

#include <string>
#include <vector>

#include "positions.h"
#include "qkv/picture/chart.h"

namespace qkv::cli {

[[nodiscard]] std::string positions_table(const PositionSetup& setup, const std::vector<PositionResult>& results);
[[nodiscard]] std::string positions_json(const PositionSetup& setup, const std::vector<PositionResult>& results);
/// A line a kind; at least one result must not have failed.
[[nodiscard]] Chart positions_chart(const PositionSetup& setup, const std::vector<PositionResult>& results);

}  // namespace qkv::cli
