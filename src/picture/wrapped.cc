#include <algorithm>

#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

// The longest beginning of `text` that fits; at least one byte of it, so that breaking always ends.
std::size_t fitting_bytes(std::string_view text, int width) {
  std::size_t best = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const bool is_boundary = end == text.size() || (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (!is_boundary) continue;
    if (display_width(text.substr(0, end)) > width && best > 0) break;
    best = end;
  }
  return best;
}

void add_word(std::vector<std::string>& lines, std::string_view next, int width) {
  while (!next.empty()) {
    const bool is_fresh = lines.back().empty();
    const int used = display_width(lines.back()) + (is_fresh ? 0 : 1);
    if (used + display_width(next) <= width) {
      if (!is_fresh) lines.back() += ' ';
      lines.back() += next;
      return;
    }
    if (!is_fresh) {
      lines.emplace_back();
      continue;
    }
    const std::size_t bytes = fitting_bytes(next, width);
    lines.back() = next.substr(0, bytes);
    next.remove_prefix(bytes);
    if (!next.empty()) lines.emplace_back();
  }
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    add_word(lines, text.substr(0, space), std::max(width, 1));
    if (space == std::string_view::npos) break;
    text.remove_prefix(space + 1);
  }
  return lines;
}

}  // namespace qkv
