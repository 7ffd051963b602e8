// The abilities of a terminal, and the width of text in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/picture/colour.h"

namespace qkv {

enum class TerminalColour : std::uint8_t {
  truecolour,  // 24-bit escape sequences
  palette256,  // the nearest of xterm's fixed 240 colours
  ascii,       // no escape sequence; only 7-bit characters, but for those of the caller's own titles and labels
};

struct TerminalOptions {
  TerminalColour colour = TerminalColour::ascii;
  int width = 80;  // columns of the terminal
  Ground ground = Ground::light;
};

/// Columns that `text` takes: 2 for a wide East Asian character or an emoji, 0 for a combining mark (Unicode UAX #11).
[[nodiscard]] int display_width(std::string_view text);

/// `text` cut to at most `width` columns, its last one being `ellipsis` where something was cut.
[[nodiscard]] std::string fit_to_width(std::string_view text, int width, std::string_view ellipsis = "…");

/// `text` made fit for one line: control characters as \n, \t or \x1b, line and direction controls as \u2028,
/// bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string one_line(std::string_view text);

/// Lines of at most `width` columns, broken at blanks; a word that is wider is broken where it must be. At least one
/// line.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int width);
/// `text` with each line that is wider than `width` columns going on below, two blanks further in; unchanged from 80
/// columns on, where a wide table is what was asked for.
[[nodiscard]] std::string narrowed(std::string_view text, int width);

}  // namespace qkv
