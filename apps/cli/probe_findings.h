// What qkv probe has found out, as text, JSON and arrays.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attend_problem.h"
#include "probe_request.h"
#include "qkv/files.h"
#include "qkv/probe.h"

namespace qkv::cli {

/// WeightMap or GradientMap.
struct MapFindings {
  Tensor cells;
  Tensor visible;
};

struct HeadFindings {
  std::int64_t h = 0;
  std::optional<MapFindings> map;
  std::optional<Tensor> row;
  std::optional<Tensor> tile;
  Tensor hidden;  // b8, of a tile of weights or gradients: pairs that are forbidden; else empty()
  std::optional<TopKeys> top;
  std::optional<Tensor> key_totals;
  std::optional<RowStatistics> statistics;
};

struct ProbeFindings {
  ProbeRequest request;
  MaskShape shape;
  std::int64_t b = 0;
  std::vector<HeadFindings> heads;
  std::optional<MapFindings> average;  // the map of the heads' mean
};

/// The numbers by name; with several heads, the first axis counts them.
[[nodiscard]] std::vector<NamedTensor> arrays_of(const ProbeFindings& findings);

[[nodiscard]] std::string as_text(const ProbeFindings& findings);

/// Every array in full, beside the options that attention ran with.
[[nodiscard]] std::string as_json(const ProbeFindings& findings, const nlohmann::ordered_json& applied);

}  // namespace qkv::cli
