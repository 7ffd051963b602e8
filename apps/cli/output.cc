#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "qkv/error.h"

namespace qkv::cli {
namespace {

bool reader_gone = false;  // NOLINT(*-avoid-non-const-global-variables): standard output is one as well

void check_output(bool written) {
  if (written) return;
  if (errno == EPIPE) {
    reader_gone = true;
    return;
  }
  throw Error("cannot write to standard output: " + std::generic_category().message(errno));
}

enum class Colours : std::uint8_t { kept, shown };

// Bytes of "\x1b[…m" at the beginning, which sets colours and nothing else; 0 for all else.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// The text with control characters as \x1b: a name from a file may hold commands to the terminal.
std::string without_commands(std::string_view text, Colours colours) {
  constexpr unsigned char kFirstByteOfC1 = 0xC2;  // of U+0080 to U+009F, which some terminals obey
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t colour = colours == Colours::kept ? colour_length(text.substr(at)) : 0;
    if (colour > 0) {
      safe += text.substr(at, colour);
      at += colour;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
    if (byte == kFirstByteOfC1 && next >= 0x80 && next < 0xA0) {
      safe += fmt::format("\\x{:02x}", next);
      at += 2;
      continue;
    }
    const bool is_command = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
    safe += is_command ? fmt::format("\\x{:02x}", byte) : std::string(1, text[at]);
    ++at;
  }
  return safe;
}

}  // namespace

void print(std::string_view text) {
  if (reader_gone) return;
  static const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const std::string safe = is_terminal ? without_commands(text, Colours::kept) : "";
  if (is_terminal) text = safe;
  errno = 0;
  check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() {
  if (reader_gone) return;
  errno = 0;
  check_output(std::fflush(stdout) == 0);
}

bool reader_is_gone() noexcept { return reader_gone; }

void hold_standard_streams() noexcept {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));  // the lowest free number
  }
}

void complain(std::string_view command, std::string_view message) {
  std::string line(command);
  line.append(": ").append(without_commands(message, Colours::shown));
  if (line.back() != '\n') line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace qkv::cli
