#include "output.h"

#include <cerrno>
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

}  // namespace

void print(std::string_view text) {
  if (reader_gone) return;
  errno = 0;
  check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void flush_output() {
  if (reader_gone) return;
  errno = 0;
  check_output(std::fflush(stdout) == 0);
}

void complain(std::string_view command, std::string_view message) {
  std::string line(command);
  line.append(": ").append(message);
  if (line.back() != '\n') line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace qkv::cli
