// What is to become of the weights of single heads, and the edits that make it so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "qkv/insight/interventions.h"

namespace qkv::insight {

/// Of one head: the edges that are cut, and what then replaces its rows.
struct HeadWeightsPlan {
  std::vector<CutEdge> cuts = {};
  std::optional<ReplacedPattern> pattern = std::nullopt;
};

/// By the name of an attention and the number of a head.
using HeadWeightsPlans = std::map<std::pair<std::string, std::int64_t>, HeadWeightsPlan>;

/// Adds the edits of one head. `scores` [Tq, Tk] are its masked scores in the unchanged run, -inf where it sees
/// nothing; `others` are its weights on the other text, empty where no pattern needs them. Throws InvalidArgument
/// naming cut.
void add_head_plan(const std::string& attention, std::int64_t head, const HeadWeightsPlan& plan,
                   const TensorView& scores, const TensorView& others, Trace& trace);

/// `value` with the part of `other`, of the same shape, at these indices of the axes. No axes: all of it.
[[nodiscard]] Variable spliced(const Variable& value, const Variable& other,
                               const std::vector<std::pair<int, std::int64_t>>& places);

}  // namespace qkv::insight
