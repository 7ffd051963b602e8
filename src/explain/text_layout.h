// Prose and tables in the columns of a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/explain.h"

namespace qkv::explain_detail {

/// The table as lines of at most `width` columns: numbers to the right, words to the left and wrapped within their
/// cell. Columns that do not fit beside one another follow below, each time behind the first;
/// a list (Table::is_list) that does not fit gives each cell a line of its own behind its column's name.
[[nodiscard]] std::vector<std::string> table_lines(const Table& table, int width);

}  // namespace qkv::explain_detail
