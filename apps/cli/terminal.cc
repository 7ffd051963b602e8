#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "output.h"

namespace qkv::cli {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kNarrowest = 20;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the command has one thread here
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

TerminalColour detected() {
  if (!is_terminal() || !environment("NO_COLOR").empty() || environment("TERM") == "dumb") return TerminalColour::ascii;
  const std::string_view depth = environment("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? TerminalColour::truecolour : TerminalColour::palette256;
}

TerminalColour colour_named(const std::string& color) {
  if (color == "true") return TerminalColour::truecolour;
  if (color == "256") return TerminalColour::palette256;
  return color == "never" ? TerminalColour::ascii : detected();
}

// COLORFGBG is "15;0", the last being the ground's colour of the first sixteen; most terminals that do not say are
// dark.
Ground detected_ground() {
  const std::string_view colours = environment("COLORFGBG");
  const std::string_view ground = colours.substr(colours.rfind(';') + 1);
  return ground == "7" || ground == "15" ? Ground::light : Ground::dark;
}

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

TerminalOptions terminal_options(const std::string& color, std::optional<int> width) {
  return {.colour = colour_named(color), .width = width.value_or(terminal_width()), .ground = detected_ground()};
}

int terminal_width() {
  winsize size{};
  if (is_terminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kNarrowest) return size.ws_col;
  const std::string told(environment("COLUMNS"));
  int columns = 0;
  std::from_chars(told.data(), told.data() + told.size(), columns);
  return columns >= kNarrowest ? columns : kDefaultWidth;
}

std::string narrowed(std::string_view text, int width) {
  if (width >= kDefaultWidth) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_narrowed(text.substr(0, end), width, out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void print_text(std::string_view text) { print(narrowed(text, terminal_width())); }

}  // namespace qkv::cli
