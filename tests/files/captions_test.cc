#include "qkv/captions.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::captions_test {
namespace {

using tests::TemporaryDirectory;

// Names and contents; pictures are not read here.
void write(const TemporaryDirectory& directory, const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories(std::filesystem::path(directory / name).parent_path());
    write_file(directory / name, text);
  }
}

std::string refusal(const TemporaryDirectory& directory) {
  std::string message = error_message<Error>([&] { static_cast<void>(read_captions(directory.path())); });
  for (std::size_t at = 0; (at = message.find(directory.path())) != std::string::npos;) {
    message.replace(at, directory.path().size(), "DIR");
  }
  return message;
}

TEST(Captions, StandBesideTheirPictures) {
  const TemporaryDirectory directory;
  write(directory, {{"b.png", ""},
                    {"b.txt", "\xEF\xBB\xBF  a blue bird\r\n"},
                    {"a.PNG", ""},
                    {"a.txt", "a\nred fox"},
                    {"README.txt", ""},
                    {"._a.png", ""}});
  const std::vector<CaptionedPicture> all = read_captions(directory.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].file, directory / "a.PNG");
  EXPECT_EQ(all[0].caption, "a\nred fox");
  EXPECT_EQ(all[1].file, directory / "b.png");
  EXPECT_EQ(all[1].caption, "a blue bird");
  EXPECT_EQ(all[1].source, directory / "b.txt");
}

TEST(Captions, StandInTheLinesOfAList) {
  const TemporaryDirectory directory;
  write(directory, {{"x.png", ""},
                    {"more/y.png", ""},
                    {"metadata.jsonl",
                     "{\"file_name\": \"x.png\", \"text\": \"a fox\", \"id\": 7}\r\n\n"
                     "{\"file_name\": \"more/y.png\", \"text\": \"a b\u00edrd\"}\n"
                     "{\"file_name\": \"x.png\", \"text\": \"the same fox\"}"}});
  const std::vector<CaptionedPicture> all = read_captions(directory.path());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].file, directory / "x.png");
  EXPECT_EQ(all[1].file, directory / "more/y.png");
  EXPECT_EQ(all[1].caption, "a b\u00edrd");
  EXPECT_EQ(all[2].caption, "the same fox");
  EXPECT_EQ(all[2].source, directory / "metadata.jsonl" + ", line 4");
}

TEST(Captions, AreMissed) {
  const TemporaryDirectory directory;
  EXPECT_EQ(refusal(directory),
            "DIR: expected pictures, each NAME.png with NAME.txt beside it, or a metadata.jsonl that names them, got "
            "none");
  write(directory, {{"a.png", ""}});
  EXPECT_EQ(refusal(directory), "DIR/a.png: expected its caption in DIR/a.txt, got no such file");
  write(directory, {{"a.txt", " \n"}});
  EXPECT_EQ(refusal(directory), "DIR/a.txt: expected a caption, got none");
  write(directory, {{"a.txt", "a \xFFox"}});
  EXPECT_EQ(
      refusal(directory),
      "DIR/a.txt, line 1: expected a text in UTF-8, got the byte 0xFF at byte 2 (counted from 0), as Latin-1 has it: "
      "save it as UTF-8 (iconv -f ISO-8859-1 -t UTF-8)");
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(read_captions(directory / "attic")); }),
            "cannot read " + directory / "attic" + ": No such file or directory");
}

TEST(Captions, OfAListNameAPictureEach) {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& line) {
    write(directory, {{"metadata.jsonl", "\n" + line}});
    return refusal(directory);
  };
  write(directory, {{"a.png", ""}});
  EXPECT_EQ(message(""), "DIR/a.png: expected its caption in DIR/metadata.jsonl, got no line that names it");
  EXPECT_EQ(message("a.png, a fox"),
            "DIR/metadata.jsonl, line 2: expected an object with the texts file_name and text, got a.png, a fox");
  EXPECT_EQ(message("{\"file_name\": \"a.png\", \"text\": 3}"),
            "DIR/metadata.jsonl, line 2: expected an object with the texts file_name and text, got "
            "{\"file_name\": \"a.png\", \"text\": 3}");
  EXPECT_EQ(message("{\"file_name\": \"b.png\", \"text\": \"\"}"),
            "DIR/metadata.jsonl, line 2: expected a picture at DIR/b.png, got no such file");
  EXPECT_EQ(message("{\"file_name\": \"a.png\", \"text\": \" \"}"),
            "DIR/metadata.jsonl, line 2: expected a caption, got none");
  EXPECT_EQ(message("{\"file_name\": \"../a.png\", \"text\": \"a\"}"),
            "DIR/metadata.jsonl, line 2: expected a PNG file below DIR, got ../a.png");
  EXPECT_EQ(message("{\"file_name\": \"/a.png\", \"text\": \"a\"}"),
            "DIR/metadata.jsonl, line 2: expected a PNG file below DIR, got /a.png");
  EXPECT_EQ(message("{\"file_name\": \"a.jpg\", \"text\": \"a\"}"),
            "DIR/metadata.jsonl, line 2: expected a PNG file below DIR, got a.jpg");
}

}  // namespace
}  // namespace qkv::captions_test
