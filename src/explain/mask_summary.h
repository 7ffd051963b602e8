// What a mask keeps and what it costs, in numbers and pictures.
#pragma once

#include <string>
#include <vector>

#include "explain/run.h"
#include "qkv/explain.h"

namespace qkv::explain_detail {

/// Adds the mask's text form, its coverage, its cost in tiles, and pictures of both to the step.
void add_mask_summary(Section& step, const Run& run);

/// The queries that see no key in any head, as "“word” (0)"; of many, the first ten and how many more.
[[nodiscard]] std::vector<std::string> blind_queries(const Run& run);

/// Whether every query of every head is one of those.
[[nodiscard]] bool no_query_sees_a_key(const Run& run);

}  // namespace qkv::explain_detail
