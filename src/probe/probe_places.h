// Checks the arguments of a probe. Each throws InvalidArgument naming `function` and the argument out of range.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "qkv/probe.h"

namespace qkv::probe_detail {

void check_head(std::string_view function, const HeadPlace& head, const MaskShape& shape);
/// One at least.
void check_heads(std::string_view function, std::int64_t b, std::span<const std::int64_t> heads,
                 const MaskShape& shape);
void check_row(std::string_view function, const HeadPlace& head, std::int64_t i, const MaskShape& shape);
void check_tile(std::string_view function, const Tile& tile, const MaskShape& shape);

}  // namespace qkv::probe_detail
