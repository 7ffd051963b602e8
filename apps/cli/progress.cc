#include "progress.h"

#include <unistd.h>

#include <cstdio>

#include "qkv/picture/terminal.h"

namespace qkv::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  shown_ = true;
  std::fputs((kClearLine + one_line(text)).c_str(), stderr);
  std::fflush(stderr);
}

void Progress::note(const std::string& text) {
  constexpr std::chrono::seconds kSilent{3};
  if (terminal_ || std::chrono::steady_clock::now() - begin_ < kSilent) return;
  std::fputs((one_line(text) + "\n").c_str(), stderr);
}

}  // namespace qkv::cli
