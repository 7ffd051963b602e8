#include "cli/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::tests {
namespace {

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

int wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void open(int number, const std::string& path, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, number, path.c_str(), flags, 0600);
  }
  void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t start(const FileActions& actions, std::vector<std::string> arguments, const std::vector<Environment>& extra) {
  arguments.insert(arguments.begin(), QKV_COMMAND);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  for (const Environment& entry : extra) environment.insert(environment.begin(), entry.name + "=" + entry.value);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, QKV_COMMAND, actions.get(), nullptr, pointers(arguments).data(),
                                  pointers(environment).data());
  if (error != 0) throw std::runtime_error("cannot run " QKV_COMMAND);
  return child;
}

int spawn(const FileActions& actions, const std::vector<std::string>& arguments,
          const std::vector<Environment>& extra) {
  return wait_for(start(actions, arguments, extra));
}

// Whether the process has a handler of its own for SIGINT (proc(5), SigCgt).
bool catches_interrupt(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    std::uint64_t caught = 0;
    if (word == "SigCgt:" && status >> std::hex >> caught) return (caught >> (SIGINT - 1) & 1U) != 0;
  }
  return false;
}

// Seconds of processor time in user mode (proc(5), field 14 of stat).
double seconds_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  for (int field = 1; field <= 14; ++field) stat >> word;
  return stat ? std::stod(word) / static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
}

constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;

}  // namespace

Outcome run_qkv(const std::vector<std::string>& arguments, const std::vector<Environment>& extra) {
  return run_qkv_from("/dev/null", arguments, extra);
}

Outcome run_qkv_from(const std::string& path, const std::vector<std::string>& arguments,
                     const std::vector<Environment>& extra) {
  const TemporaryDirectory directory;
  FileActions actions;
  actions.open(STDIN_FILENO, path, O_RDONLY);
  actions.open(STDOUT_FILENO, directory / "out", kCreate);
  actions.open(STDERR_FILENO, directory / "err", kCreate);
  const int code = spawn(actions, arguments, extra);
  return {.code = code, .out = text_of(directory / "out"), .err = text_of(directory / "err")};
}

Outcome run_qkv_interrupted(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  FileActions actions;
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.open(STDOUT_FILENO, directory / "out", kCreate);
  actions.open(STDERR_FILENO, directory / "err", kCreate);
  const pid_t child = start(actions, arguments, {});
  const auto ended = [&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  };
  while (!ended() && !(catches_interrupt(child) && seconds_of(child) >= 1)) ::usleep(1000);
  ::kill(child, SIGINT);
  const int code = wait_for(child);
  return {.code = code, .out = text_of(directory / "out"), .err = text_of(directory / "err")};
}

Outcome run_qkv_within(std::uint64_t memory, const std::vector<std::string>& arguments) {
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit within{.rlim_cur = memory, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_AS, &within);  // the child inherits it
  const Outcome outcome = run_qkv(arguments);
  ::setrlimit(RLIMIT_AS, &before);
  return outcome;
}

Outcome run_qkv_into(const std::string& path, const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  FileActions actions;
  actions.open(STDOUT_FILENO, path, O_WRONLY);
  actions.open(STDERR_FILENO, directory / "err", kCreate);
  const int code = spawn(actions, arguments, {});
  return {.code = code, .out = {}, .err = text_of(directory / "err")};
}

Outcome run_qkv_into_closed_pipe(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  ::close(ends[0]);
  FileActions actions;
  actions.duplicate(ends[1], STDOUT_FILENO);
  actions.open(STDERR_FILENO, directory / "err", kCreate);
  const int code = spawn(actions, arguments, {});
  ::close(ends[1]);
  return {.code = code, .out = {}, .err = text_of(directory / "err")};
}

}  // namespace qkv::tests
