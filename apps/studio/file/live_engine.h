// The engine that a page takes along.
#pragma once

#include <optional>

#include "page_file.h"

namespace qkv::studio {

/// The engine and the models of the box that it opens; none if `make web` had not made it when this qkv was built.
[[nodiscard]] std::optional<LiveEngine> live_engine();

}  // namespace qkv::studio
