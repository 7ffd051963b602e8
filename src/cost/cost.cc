#include "qkv/cost.h"

#include "cost/shape.h"
#include "qkv/error.h"

namespace qkv {

const CostItem& CostReport::item(std::string_view key) const {
  for (const CostGroup& group : groups) {
    for (const CostItem& one : group.items) {
      if (one.key == key) return one;
    }
  }
  throw InvalidArgument("CostReport::item", "key", "the key of a figure of " + config.name,
                        "\"" + std::string(key) + "\"");
}

CostReport cost(const CostConfig& config) {
  using namespace cost_detail;
  CostReport report{resolved(config), {}};
  const CostConfig& full = report.config;
  const ModelShape shape = shape_of(full);
  report.groups.push_back(weights_group(full, shape));
  report.groups.push_back(training_state_group(report.item("weights.total"), shape));
  report.groups.push_back(layer_flops_group(shape));
  report.groups.push_back(model_flops_group(full, shape));
  report.groups.push_back(tiled_flops_group(full, shape));
  report.groups.push_back(scores_group(full, shape));
  report.groups.push_back(activations_group(full, shape));
  report.groups.push_back(kv_cache_group(shape));
  report.groups.push_back(traffic_group(full, shape));
  return report;
}

}  // namespace qkv
