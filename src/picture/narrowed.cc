// Text that was laid out for 80 columns, in fewer.
#include <algorithm>
#include <string>
#include <string_view>

#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

constexpr int kLaidOutFor = 80;

// A line of any width in lines of at most `width` columns.
void add_narrowed(std::string_view line, int width, std::string& out) {
  const std::size_t lead = std::min<std::size_t>(std::min(line.find_first_not_of(' '), line.size()), 8);
  const std::string begin(lead + 2, ' ');  // of the lines below
  bool is_first = true;
  while (display_width(line) > width - (is_first ? 0 : static_cast<int>(begin.size()))) {
    const int room = width - (is_first ? 0 : static_cast<int>(begin.size()));
    const std::string fits = fit_to_width(line, room, "");
    const std::size_t blank = fits.size() < line.size() && line[fits.size()] == ' ' ? fits.size() : fits.rfind(' ');
    const bool has_blank = blank != std::string::npos && blank > (is_first ? lead : 0);
    const std::size_t cut = std::max<std::size_t>(has_blank ? blank : fits.size(), 1);
    std::string_view piece = line.substr(0, cut);
    piece = piece.substr(0, piece.find_last_not_of(' ') + 1);
    out += (is_first ? "" : begin) + std::string(piece) + "\n";
    line.remove_prefix(cut);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    is_first = false;
  }
  out += (is_first ? "" : begin) + std::string(line);
}

}  // namespace

std::string narrowed(std::string_view text, int width) {
  if (width >= kLaidOutFor) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_narrowed(text.substr(0, end), width, out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace qkv
