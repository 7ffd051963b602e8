// Checks what a probe is asked for. Each throws InvalidArgument naming `function` and what lies out of range.
#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/probe.h"

namespace qkv::probe_detail {

void check_head(std::string_view function, const HeadPlace& head, const MaskShape& shape);
void check_row(std::string_view function, const HeadPlace& head, std::int64_t i, const MaskShape& shape);
void check_tile(std::string_view function, const Tile& tile, const MaskShape& shape);

}  // namespace qkv::probe_detail
