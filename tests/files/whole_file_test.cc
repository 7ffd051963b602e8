#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/error_message.h"
#include "core/watched.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

namespace qkv::whole_file_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryDirectory;

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

unsigned mode_of(const std::string& path) {
  struct stat state{};
  EXPECT_EQ(::stat(path.c_str(), &state), 0);
  return state.st_mode & 07777U;
}

TEST(ReadFile, NamesThePathAndTheReason) {
  const TemporaryDirectory directory;
  EXPECT_EQ(error_message<Error>([&] { (void)read_file(directory / "none"); }),
            "cannot read " + directory / "none" + ": No such file or directory");
  EXPECT_EQ(error_message<Error>([&] { (void)read_file(directory.path()); }),
            "cannot read " + directory.path() + ": it is a directory");
}

TEST(ReadFile, ReadsFilesWithoutASize) { EXPECT_THAT(text_of("/proc/self/status"), HasSubstr("Name:")); }

TEST(ReadFile, RefusesDevicesWithoutAnEnd) {
  const TemporaryDirectory directory;
  fs::create_symlink("/dev/zero", directory / "z.npy");
  const std::string device = "cannot read " + directory / "z.npy" + ": expected a file or a pipe, got a device";
  EXPECT_EQ(error_message<Error>([&] { (void)read_file(directory / "z.npy"); }), device);
  EXPECT_EQ(error_message<Error>([&] { (void)read_tensor(directory / "z.npy"); }), device);
  EXPECT_TRUE(read_file("/dev/null").empty());
}

TEST(ReadFile, RefusesWhatIsTooLong) {
  const TemporaryDirectory directory;
  write_file(directory / "text", "x");
  fs::resize_file(directory / "text", (std::uintmax_t{4} << 30U) + 1);  // which takes no room on the disk
  EXPECT_EQ(error_message<Error>([&] { (void)read_file(directory / "text"); }),
            "cannot read " + directory / "text" + ": expected at most 4294967296 bytes, got more");
}

TEST(ReadFile, EndsWhenItsCallIsStopped) {
  const TemporaryDirectory directory;
  write_file(directory / "text", "x");
  const CallWatch stops = [] { return Proceed::stop; };
  const core::Watched watched(stops);
  EXPECT_THROW((void)read_file(directory / "text"), Cancelled);
}

TEST(WriteFile, ReplacesAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "first, and longer");
  write_file(directory / "a", "second");
  EXPECT_EQ(text_of(directory / "a"), "second");
  EXPECT_THAT(directory.names(), ElementsAre("a"));
}

TEST(WriteFile, GivesANewFileWhatTheUmaskLeavesAndKeepsAnOldOnes) {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(027);
  write_file(directory / "new", "x");
  ::umask(before);
  EXPECT_EQ(mode_of(directory / "new"), 0640U);
  ASSERT_EQ(::chmod((directory / "new").c_str(), 0604), 0);
  write_file(directory / "new", "y");
  EXPECT_EQ(mode_of(directory / "new"), 0604U);
}

TEST(WriteFile, FollowsASymbolicLinkAndKeepsIt) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "inner");
  fs::create_symlink("inner/target", directory / "link");
  write_file(directory / "link", "x");
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(text_of(directory / "inner/target"), "x");
}

TEST(WriteFile, TakesNamesAsLongAsTheFileSystemDoes) {
  const TemporaryDirectory directory;
  const std::string name(255, 'n');
  write_file(directory / name, "x");
  EXPECT_THAT(directory.names(), ElementsAre(name));
}

TEST(WriteFile, WritesIntoAPipe) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = text_of(directory / "pipe"); });
  write_file(directory / "pipe", "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_THAT(directory.names(), ElementsAre("pipe"));
}

TEST(WriteFile, NamesThePathAndTheReasonAndLeavesNothing) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "x");
  const auto refusal = [&](const std::string& path) { return error_message<Error>([&] { write_file(path, "y"); }); };
  EXPECT_EQ(refusal(directory / "none/a"), "cannot write " + directory / "none/a" + ": No such file or directory");
  EXPECT_EQ(refusal(directory / "file/a"), "cannot write " + directory / "file/a" + ": Not a directory");
  EXPECT_EQ(refusal(directory.path()), "cannot write " + directory.path() + ": it is a directory");
  EXPECT_EQ(refusal("/dev/full"), "cannot write /dev/full: No space left on device");
  EXPECT_THAT(directory.names(), ElementsAre("file"));
}

TEST(WriteFile, FromManyThreadsLeavesOneWholeFile) {
  const TemporaryDirectory directory;
  constexpr std::size_t kLength = 100'000;
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 10; ++i) write_file(directory / "file", std::string(kLength, letter));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = text_of(directory / "file");
  EXPECT_EQ(text, std::string(kLength, text.at(0)));
  EXPECT_THAT(directory.names(), ElementsAre("file"));
}

TEST(WriteFiles, WritesAllOrNone) {
  const TemporaryDirectory directory;
  const std::vector<FileContent> files{{directory / "a", std::vector<std::byte>(3)},
                                       {directory / "none/b", std::vector<std::byte>(3)}};
  EXPECT_THAT(error_message<Error>([&] { write_files(files); }), HasSubstr("none/b: No such file or directory"));
  EXPECT_THAT(directory.names(), ElementsAre());
  write_files(std::vector<FileContent>{files[0], {directory / "b", {}}});
  EXPECT_THAT(directory.names(), ElementsAre("a", "b"));
}

TEST(WriteFiles, RefusesOnePathTwice) {
  const TemporaryDirectory directory;
  const std::vector<FileContent> files{{directory / "a", {}}, {directory.path() + "/./a", {}}};
  EXPECT_THAT(error_message([&] { write_files(files); }), HasSubstr("expected one file for each path"));
  EXPECT_THAT(directory.names(), ElementsAre());
}

TEST(WriteFiles, RefusesOneFileByTwoNames) {
  const TemporaryDirectory directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  const auto refusal = [](const std::string& other) {
    return error_message([&] { write_files(std::vector<FileContent>{{"o.npy", {}}, {other, {}}}); });
  };
  fs::create_directory("below");
  fs::create_symlink("o.npy", "link");  // to what is not there yet
  for (const char* other : {"./o.npy", "below/../o.npy", "link"}) {
    EXPECT_THAT(refusal(other), HasSubstr("twice")) << other;
  }
  EXPECT_THAT(directory.names(), ElementsAre("below", "link"));
  fs::current_path(before);
}

TEST(IsSamePlace, HoweverItIsSpelt) {
  const TemporaryDirectory directory;
  const std::string file = directory / "o.npy";
  EXPECT_TRUE(is_same_place(file, directory / "./o.npy"));
  EXPECT_TRUE(is_same_place(file, directory / "../" + fs::path(directory.path()).filename().string() + "/o.npy"));
  EXPECT_FALSE(is_same_place(file, directory / "p.npy"));
  fs::create_symlink("o.npy", directory / "link");
  EXPECT_TRUE(is_same_place(file, directory / "link"));
  write_file(file, "1");
  EXPECT_TRUE(is_same_place(file, directory / "link"));
  fs::create_hard_link(file, directory / "hard");
  EXPECT_TRUE(is_same_place(file, directory / "hard"));
  EXPECT_FALSE(is_same_place("/dev/null", "/dev/null"));
  const bool tells_case_apart = !fs::exists(directory / "O.NPY");
  EXPECT_EQ(is_same_place(directory / "new", directory / "NEW"), !tells_case_apart);
  EXPECT_THAT(directory.names(), ElementsAre("hard", "link", "o.npy"));
}

void end_child(int) {
  remove_unfinished_files();
  ::_exit(0);
}

TEST(RemoveUnfinishedFiles, LeavesNothingOfAProcessThatASignalEnds) {
  const TemporaryDirectory directory;
  const std::vector<std::byte> bytes(std::size_t{4} << 20U);
  for (int n = 0; n < 12; ++n) {
    const pid_t child = ::fork();
    if (child == 0) {
      static_cast<void>(std::signal(SIGTERM, end_child));
      for (;;) write_file(directory / "a", bytes);
    }
    // Until it writes.
    while (!fs::exists(directory / "a")) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(n));
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_THAT(directory.names(), ElementsAre("a"));
    fs::remove(directory / "a");
  }
}

// Opened anew, a file would begin again, and a socket could not be opened.
TEST(ReadFile, ReadsStandardInputFromWhereItIs) {
  const TemporaryDirectory directory;
  write_file(directory / "text", "first second");
  const int before = ::dup(STDIN_FILENO);
  const int file = ::open((directory / "text").c_str(), O_RDONLY | O_CLOEXEC);
  ::lseek(file, 6, SEEK_SET);
  ::dup2(file, STDIN_FILENO);
  ::close(file);
  const std::vector<std::byte> rest = read_file("/dev/stdin");
  int pair[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ASSERT_EQ(::write(pair[0], "told", 4), 4);
  ::close(pair[0]);
  ::dup2(pair[1], STDIN_FILENO);
  ::close(pair[1]);
  const std::vector<std::byte> told = read_file("/dev/stdin");
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(text(rest), "second");
  EXPECT_EQ(text(told), "told");
}

TEST(RequireWritable, TellsBeforehandWhatWriteFileWouldMeet) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "x");
  require_writable(directory / "file");
  require_writable(directory / "other");
  require_writable("/dev/null");
  EXPECT_THAT(error_message<Error>([&] { require_writable(directory / "none/a"); }),
              HasSubstr("there is no directory " + (directory / "none")));
  EXPECT_THAT(error_message<Error>([&] { require_writable(directory / "file/a"); }), HasSubstr("Not a directory"));
  EXPECT_THAT(error_message<Error>([&] { require_writable(directory.path()); }), HasSubstr("it is a directory"));
}

TEST(RequireWritable, TellsOfALockedDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "needs a user whom permissions bind; this is root";
  const TemporaryDirectory directory;
  fs::create_directory(directory / "locked");
  ASSERT_EQ(::chmod((directory / "locked").c_str(), 0500), 0);
  EXPECT_THAT(error_message<Error>([&] { require_writable(directory / "locked/a"); }), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace qkv::whole_file_test
