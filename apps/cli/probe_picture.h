// The pictures of qkv probe.
#pragma once

#include <string>

#include "probe_findings.h"
#include "qkv/picture/heatmap.h"

namespace qkv::cli {

/// The maps, or, where none was asked for, the tiles: a heatmap for each head.
[[nodiscard]] Panel picture_of(const ProbeFindings& findings, const std::string& mask, ColourScale scale);

}  // namespace qkv::cli
