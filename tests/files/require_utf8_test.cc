// What is read as a text is one.
#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "core/error_message.h"
#include "files/file_kind.h"
#include "files/place.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::require_utf8_test {
namespace {

using namespace std::string_view_literals;

std::string said_of(std::string_view bytes) {
  return error_message<Error>([&] { static_cast<void>(require_utf8(bytes, "a.txt")); });
}

TEST(RequireUtf8, NamesOtherEncodings) {
  EXPECT_EQ(said_of("\xFF\xFE"
                    "a\0b\0"sv),
            "a.txt: expected a text in UTF-8, got UTF-16; save it as UTF-8");
  EXPECT_EQ(said_of("\xFE\xFF\0a"sv), "a.txt: expected a text in UTF-8, got UTF-16; save it as UTF-8");
  EXPECT_EQ(said_of("\xFF\xFE\0\0a\0\0\0"sv), "a.txt: expected a text in UTF-8, got UTF-32; save it as UTF-8");
  EXPECT_EQ(said_of("a\0b\0c\0"sv), "a.txt: expected a text in UTF-8, got 3 zero bytes among 6, as UTF-16 has them");
}

TEST(RequireUtf8, TakesTextsAsTheyAre) {
  EXPECT_EQ(require_utf8("\xEF\xBB\xBF"
                         "a",
                         "a.txt"),
            "a");
  for (const std::string_view text :
       {""sv, "one zero \0 stays"sv, "seven n"sv, "eight ns"sv, "GGUF is a format"sv, "<html>a page</html>"sv,
        "ein Gr\u00fc\u00dfle, \u4f60\u597d \U0001F600"sv, "1234567\u00e9"sv}) {
    EXPECT_EQ(require_utf8(text, "a.txt"), text);
    EXPECT_EQ(files::other_than_utf8(text), "");
  }
}

TEST(RequireUtf8, NamesTheFirstWrongByte) {
  EXPECT_EQ(said_of("ab\ncaf\xE9 au lait\n"),
            "a.txt, line 2: expected a text in UTF-8, got the byte 0xE9 at byte 6 (counted from 0), as Latin-1 has it: "
            "save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8)");
  EXPECT_EQ(said_of("it\x92s"),
            "a.txt, line 1: expected a text in UTF-8, got the byte 0x92 at byte 2 (counted from 0), perhaps of "
            "Windows-1252: save it as UTF-8");
  // Such a text is damaged, and would be more so as of another encoding.
  EXPECT_EQ(said_of("na\xC3\xAFve caf\xE9 au lait"),
            "a.txt, line 1: expected a text in UTF-8, got the byte 0xE9 at byte 10 (counted from 0)");
  EXPECT_EQ(said_of("a\x01\n\n\xC0\x80"),
            "a.txt, line 3: expected a text in UTF-8, got the byte 0xC0 at byte 4 (counted from 0)");
  EXPECT_EQ(
      said_of("a \xE4\xBD"),
      "a.txt, line 1: expected a text in UTF-8, got one that ends within a character, at byte 2 (counted from 0)");
  // Half of a pair of surrogates, and a letter beyond the last one.
  EXPECT_EQ(files::other_than_utf8("\xED\xA0\x80\x02"), "the byte 0xED at byte 0 (counted from 0)");
  EXPECT_EQ(files::other_than_utf8("\xF4\x90\x80\x80\x02"), "the byte 0xF4 at byte 0 (counted from 0)");
}

// At every place among the eight bytes that are looked at together.
TEST(RequireUtf8, FindsAWrongByteWhereverItStands) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    text[at] = '\xFF';
    EXPECT_THAT(files::other_than_utf8(text), testing::StartsWith("the byte 0xFF at byte " + std::to_string(at) + " "));
  }
}

TEST(RequireUtf8, NamesFilesOfOtherKinds) {
  EXPECT_EQ(said_of("RIFF\x24\x3E\0\0WAVEfmt \x10\0\0\0"sv), "a.txt: expected a text in UTF-8, got a WAV sound");
  EXPECT_EQ(said_of("RIFF\x24\xF0\x81\x01WEBPVP8 "sv), "a.txt: expected a text in UTF-8, got a WebP picture");
  EXPECT_EQ(said_of("\x89PNG\r\n\x1A\n"sv), "a.txt: expected a text in UTF-8, got a PNG picture");
  EXPECT_EQ(said_of("\x1F\x8B\x08"sv), "a.txt: expected a text in UTF-8, got a file packed by gzip");
  EXPECT_EQ(said_of("GGUF\x03\0\0\0"sv), "a.txt: expected a text in UTF-8, got a GGUF file");
  EXPECT_EQ(said_of("\x93NUMPY\x01\0v\0{'descr'"sv), "a.txt: expected a text in UTF-8, got a .npy file");
  EXPECT_EQ(said_of("\x40\0\0\0\0\0\0\0{\"w\":"sv), "a.txt: expected a text in UTF-8, got a safetensors file");
  EXPECT_EQ(said_of("%PDF-1.7\n1 0 obj\n"sv), "a.txt: expected a text in UTF-8, got a PDF document");
}

TEST(ReadText, LeavesTheMarkOfUtf8Out) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "a.txt", std::string_view("\xEF\xBB\xBF"
                                                   "a b"));
  EXPECT_EQ(files::read_text(directory / "a.txt"), "a b");
  EXPECT_EQ(files::read_bytes(directory / "a.txt").size(), 6U);
  write_file(directory / "b.txt", std::string_view("a\xFF"));
  EXPECT_EQ(files::read_bytes(directory / "b.txt"), "a\xFF");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(files::read_text(directory / "b.txt")); }),
              testing::StartsWith(directory / "b.txt, line 1: expected a text in UTF-8, got the byte 0xFF at byte 1"));
}

}  // namespace
}  // namespace qkv::require_utf8_test
