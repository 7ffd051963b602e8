// The engine that a page takes along.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "page_file.h"
#include "qkv/api/studio.h"

namespace qkv::studio {

/// The engine, with the models that no one chooses: those of the bottleneck. None if `make web` had not made it when
/// this qkv was built.
[[nodiscard]] std::optional<LiveEngine> live_engine();

/// Adds the models of the box that are in `shown`, as `studio` has them open, then the smallest ones, as long as they
/// take at most `room` bytes of a page. Those that are shown have no bound: a page without its own model would not be
/// live.
void add_models(LiveEngine& live, const std::set<std::string>& shown, std::size_t room, Studio& studio);

/// The file of a model of the box; empty for any other name.
[[nodiscard]] std::vector<std::byte> box_model(const std::string& name);

}  // namespace qkv::studio
