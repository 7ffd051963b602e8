// No command writes over what it reads: its options are refused before anything is computed.
#include <gmock/gmock.h>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::written_files_test {
namespace {

using tests::Outcome;
using tests::run_qkv;

struct Case {
  std::vector<std::string> words;  // FILE stands for one that is there
  std::string read, written;
};

const std::vector<Case> kCases = {
    {{"attend", "--q", "FILE", "--k", "FILE", "--v", "FILE", "--out", "FILE"}, "--q", "--out"},
    {{"probe", "--q", "a.npy", "--k", "a.npy", "--lse", "FILE", "--npy", "FILE", "--row", "0"}, "--lse", "--npy"},
    {{"analyze", "induction", "--file", "FILE", "--csv", "FILE"}, "--file", "--csv"},
    {{"analyze", "english", "--syntax", "FILE", "--csv", "FILE"}, "--syntax", "--csv"},
    {{"embed", "english", "--file", "FILE", "--out", "FILE"}, "--file", "--out"},
    {{"explain", "--npz", "FILE", "--html", "FILE"}, "--npz", "--html"},
    {{"match", "FILE", "a caption", "--html", "FILE"}, "IMAGE CAPTION", "--html"},
    {{"train", "tokenizer", "FILE", "--out", "FILE"}, "DATA", "--out"},
    {{"view", "FILE", "--export", "FILE"}, "MODEL", "--export"},
};

TEST(WrittenFiles, AreNoneThatAreRead) {
  const tests::TemporaryDirectory directory;
  for (const Case& one : kCases) {
    const bool is_page = one.written == "--html" || one.written == "--export";
    const std::string file = directory / (is_page ? "file.html" : one.written == "--csv" ? "file.csv" : "file.npy");
    write_file(file, "a text");
    std::vector<std::string> words = one.words;
    std::ranges::replace(words, "FILE", file);
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << one.words[0];
    EXPECT_EQ(outcome.err, "qkv " + one.words[0] + ": " + one.written + ": expected a file other than that of " +
                               one.read + ", which is read, got \"" + file + "\"\n");
    const std::vector<std::byte> bytes = read_file(file);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "a text") << one.words[0];
  }
}

// A page by the name of a picture would not open.
TEST(WrittenFiles, AreNotCalledAsOtherKindsAre) {
  const tests::TemporaryDirectory directory;
  const std::vector<std::pair<std::vector<std::string>, std::string>> pages = {
      {{"explain", "a b", "--html"}, "--html"},
      {{"match", "a.png", "a caption", "--html"}, "--html"},
      {{"view", "--export"}, "--export"},
      {{"view", "--frame"}, "--frame"},
  };
  for (auto [words, option] : pages) {
    const std::string file = directory / "page.png";
    words.push_back(file);
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_EQ(outcome.err,
              "qkv " + words[0] + ": " + option + ": expected a name that ends in .html, got \"" + file + "\"\n");
  }
  EXPECT_THAT(directory.names(), testing::IsEmpty());
}

TEST(WrittenFiles, HaveAFolder) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "none/page.html";
  EXPECT_EQ(run_qkv({"view", "--export", file}).err,
            "qkv view: --export: cannot write " + file + ": there is no directory " + directory / "none" + "\n");
}

}  // namespace
}  // namespace qkv::written_files_test
