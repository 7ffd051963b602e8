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

void print_text(std::string_view text) { print(narrowed(text, terminal_width())); }

}  // namespace qkv::cli
