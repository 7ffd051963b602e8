#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error_message.h"
#include "files/staged_file.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

namespace qkv::staged_files_test {
namespace {

using files::StagedFile;
using files::StagedFolder;
using testing::ElementsAre;
using testing::IsEmpty;
using tests::TemporaryDirectory;

// As a full disk does, a file that may not grow ends the writing.
TEST(StagedFile, OfADiskThatIsFullLeavesNothing) {
  const TemporaryDirectory directory;
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string path = directory / "m.gguf";
  const std::string fault = error_message<Error>([&] { StagedFile(path).write(std::vector<std::byte>(1 << 16)); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(fault, "cannot write " + path + ": File too large");
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(StagedFile, TakesThePlaceOfNoPipe) {
  const TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error_message<Error>([&] { StagedFile file(path); }),
            "cannot write " + path + ": it is a device or a pipe, not a file");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_THAT(directory.names(), ElementsAre("pipe"));
}

TEST(StagedFolder, AppearsWholeOrNotAtAll) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model";
  {
    StagedFolder folder(path + "/");
    write_file(folder.add("config.json"), "{}");
    EXPECT_EQ(directory.names().size(), 1U);
    EXPECT_FALSE(directory.names().contains("model"));
  }
  EXPECT_THAT(directory.names(), IsEmpty());
  StagedFolder folder(path);
  write_file(folder.add("config.json"), "{}");
  folder.appear();
  EXPECT_THAT(directory.names(), ElementsAre("model"));
  EXPECT_TRUE(std::filesystem::exists(path + "/config.json"));
}

TEST(StagedFolder, LeavesNothingWhereASignalEndsTheProcess) {
  const TemporaryDirectory directory;
  StagedFolder folder(directory / "model");
  write_file(folder.add("config.json"), "{}");
  write_file(folder.add("1_Pooling/config.json"), "{}");
  remove_unfinished_files();
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(StagedFolder, ReplacesAnEmptyFolderAlone) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "empty");
  StagedFolder(directory / "empty").appear();
  write_file(directory / "empty/a", "a");
  EXPECT_EQ(error_message<Error>([&] { StagedFolder again(directory / "empty"); }),
            "cannot write " + (directory / "empty") + ": it is there already, and a folder is not replaced");
  EXPECT_THAT(directory.names(), ElementsAre("empty"));
}

}  // namespace
}  // namespace qkv::staged_files_test
