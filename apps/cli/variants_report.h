// What the variants cost, as a table, as JSON and as charts over T.
#pragma once

#include <string>
#include <vector>

#include "qkv/picture/chart.h"
#include "variants.h"

namespace qkv::cli {

[[nodiscard]] std::string variants_table(const VariantSetup& setup, const std::vector<VariantCost>& costs);
[[nodiscard]] std::string variants_json(const VariantSetup& setup, const std::vector<VariantCost>& costs);

struct NamedChart {
  std::string name;  // of its file: time, memory or error
  Chart chart;
};

[[nodiscard]] std::vector<NamedChart> variants_charts(const VariantSetup& setup, const std::vector<VariantCost>& costs);

}  // namespace qkv::cli
