// A file that a command reads as a text is one.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::texts_of_files_test {
namespace {

using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using Words = std::vector<std::string>;

// Behind each stands the file.
const std::vector<Words>& readers() {
  static const std::vector<Words> kReaders = {
      {"generate", "gpt", "--file"},
      {"embed", "gpt", "--file"},
      {"analyze", "gpt", "--file"},
      {"analyze", "gpt", "--syntax"},
      {"check", "gpt", "gpt", "--file"},
      {"probe", "--model", "gpt", "--stats", "--file"},
      {"train", "text", "--steps", "1", "--out", "/dev/null/none"},
      {"train", "text", "--from", "gpt", "--steps", "1", "--out", "/dev/null/none"},
      {"train", "tokenizer", "--out", "/dev/null/none"},
  };
  return kReaders;
}

void expect_refused(const std::string& file, const std::string& said) {
  for (Words words : readers()) {
    words.push_back(file);
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 1) << testing::PrintToString(words);
    EXPECT_EQ(outcome.out, "") << testing::PrintToString(words);
    EXPECT_THAT(outcome.err, HasSubstr(file + said)) << testing::PrintToString(words);
  }
}

TEST(TextsOfFiles, AreNotTheBytesOfAnotherKindOfFile) {
  using namespace std::string_view_literals;
  const tests::TemporaryDirectory directory;
  write_file(directory / "speech.wav", "RIFF\x24\x3E\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0 \n\xF0\xE1"sv);
  expect_refused(directory / "speech.wav", ": expected a text in UTF-8, got a WAV sound\n");
}

TEST(TextsOfFiles, OfAnotherEncodingNameTheByte) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "latin.txt", std::string_view("un\ncaf\xE9 au lait\n"));
  expect_refused(directory / "latin.txt",
                 ", line 2: expected a text in UTF-8, got the byte 0xE9 at byte 6 (counted from 0), as Latin-1 has it: "
                 "save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8)\n");
}

TEST(TextsOfFiles, MayBeginWithTheMarkOfUtf8) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "a.txt", std::string_view("the cat sees the dog\n"));
  write_file(directory / "b.txt", std::string_view("\xEF\xBB\xBFthe cat sees the dog\n"));
  const auto probed = [&](const std::string& file) {
    return run_qkv({"probe", "--model", "gpt", "--stats", "--json", "--file", directory / file}).out;
  };
  EXPECT_THAT(probed("a.txt"), HasSubstr("\"means\""));
  EXPECT_EQ(probed("b.txt"), probed("a.txt"));
}

TEST(TypedTexts, AreInUtf8) {
  for (const Words& words : {Words{"generate", "gpt", "caf\xE9"},
                             {"tokens", "gpt", "caf\xE9"},
                             {"embed", "gpt", "--line", "caf\xE9"},
                             {"generate", "gpt", "a", "--stop", "caf\xE9"},
                             {"lens", "gpt", "a", "--token", "caf\xE9"}}) {
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(words);
    EXPECT_THAT(outcome.err,
                testing::EndsWith(": expected a text in UTF-8, got the byte 0xE9 at byte 3 (counted from 0)\n"))
        << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace qkv::texts_of_files_test
