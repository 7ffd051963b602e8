// The columns of a probe's statistics, by the names that they have in replies.
#pragma once

#include <utility>
#include <vector>

#include "qkv/probe.h"

namespace qkv::api_detail {

[[nodiscard]] inline const std::vector<std::pair<const char*, Tensor RowStatistics::*>>& statistics_columns() {
  static const std::vector<std::pair<const char*, Tensor RowStatistics::*>> kColumns = {
      {"visible", &RowStatistics::visible},   {"mass", &RowStatistics::mass},
      {"entropy", &RowStatistics::entropy},   {"normalised_entropy", &RowStatistics::normalised_entropy},
      {"distance", &RowStatistics::distance}, {"largest", &RowStatistics::largest},
      {"first", &RowStatistics::first},       {"diagonal", &RowStatistics::diagonal}};
  return kColumns;
}

}  // namespace qkv::api_detail
