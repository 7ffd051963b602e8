#include "browser.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace qkv::cli {
namespace {

bool has_display() { return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr; }

// The grandchild is nobody's: it is not waited for, and Ctrl-C does not end the browser.
[[noreturn]] void start_apart(const char* url) {
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere < 0) ::_exit(1);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::execlp("xdg-open", "xdg-open", url, nullptr);
  ::_exit(1);
}

}  // namespace

void open_in_browser(const std::string& url) {
  if (!has_display()) return;
  const pid_t child = ::fork();
  if (child == 0) start_apart(url.c_str());
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace qkv::cli
