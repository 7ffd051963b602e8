// What standard output is: a terminal with colours, or a pipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "qkv/picture/terminal.h"

namespace qkv::cli {

/// `color` is "auto", "true", "256" or "never". auto: ASCII for a pipe, for TERM=dumb and where NO_COLOR is set
/// (https://no-color.org); true colour where COLORTERM says so; otherwise 256 colours. The width is the terminal's, or
/// COLUMNS, or 80. The ground is dark, unless COLORFGBG says that it is white.
[[nodiscard]] TerminalOptions terminal_options(const std::string& color, std::optional<int> width);

/// Columns of standard output: the terminal's, or COLUMNS, or 80.
[[nodiscard]] int terminal_width();

/// Prints text for people to read, in the terminal's columns.
void print_text(std::string_view text);

}  // namespace qkv::cli
