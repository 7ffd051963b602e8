// Classes of heads by how often they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/insight/heads.h"

namespace qkv::insight {

/// Those that some head of the site has: patterns in their order, then "broad", "mixed" and "-".
[[nodiscard]] std::vector<std::string> classes_of(const SiteHeads& site);

[[nodiscard]] std::int64_t heads_of_class(const SiteHeads& site, const std::string& word);

/// Patterns of which some head of the site has a row.
[[nodiscard]] std::vector<std::size_t> patterns_of(const SiteHeads& site);

}  // namespace qkv::insight
