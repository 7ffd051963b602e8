// Checks the arguments of a probe. Each throws InvalidArgument naming `function` and the argument out of range.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/probe.h"

namespace qkv::probe_detail {

void check_head(std::string_view function, const HeadPlace& head, const MaskShape& shape);
void check_row(std::string_view function, const HeadPlace& head, std::int64_t i, const MaskShape& shape);
void check_queries(std::string_view function, const QueryRange& queries, const MaskShape& shape);
void check_tile(std::string_view function, const Tile& tile, const MaskShape& shape);

}  // namespace qkv::probe_detail
