// Files of one kind given to the reader of another.
#include "files/file_kind.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error_message.h"
#include "files/json_text.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/gguf.h"
#include "qkv/npy.h"
#include "qkv/npz.h"
#include "qkv/png.h"
#include "qkv/safetensors.h"

namespace qkv::files::file_kind_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Reader {
  std::string wanted;
  std::function<void(const std::string& path)> read;
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> kReaders = {
      {"a safetensors file", [](const std::string& path) { static_cast<void>(Safetensors::read(path)); }},
      {"a GGUF file", [](const std::string& path) { static_cast<void>(Gguf::read(path)); }},
      {"a .npy file", [](const std::string& path) { static_cast<void>(decode_npy(read_file(path), path)); }},
      {"an .npz file", [](const std::string& path) { static_cast<void>(npz_names(path)); }},
      {"a PNG file", [](const std::string& path) { static_cast<void>(decode_png(read_file(path), path)); }},
      {"a JSON file", [](const std::string& path) { static_cast<void>(read_json(path)); }},
  };
  return kReaders;
}

// What a file begins with, what it is called, and whose reader it is for.
struct Kind {
  std::string begin;
  std::string name;
  std::string wanted = "";
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = {
      {"\x89PNG\r\n\x1A\n", "a PNG picture", "a PNG file"},
      {"\xFF\xD8\xFF\xE0", "a JPEG picture"},
      {"PK\x03\x04\x14", "a ZIP archive", "an .npz file"},
      {"GGUF\x03", "a GGUF file", "a GGUF file"},
      {"\x93NUMPY\x01", "a .npy file", "a .npy file"},
      {"\x80\x02}q", "a pickle of PyTorch"},
      {"\x89HDF\r\n", "a file of HDF5"},
      {"  <!DOCTYPE html><title>404</title>", "a page of the web (HTML)"},
      {"<HTML lang=en>", "a page of the web (HTML)"},
      {"<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"x\"><html>", "a page of the web (HTML)"},
      {"<svg xmlns=\"http://www.w3.org/2000/svg\">", "an SVG picture"},
      {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- drawn by hand, with a long remark -->\n<svg>",
       "an SVG picture"},
      {"\xEF\xBB\xBF<?xml version=\"1.0\"?><feed>", "an XML file"},
      {"%PDF-1.7", "a PDF document"},
      {std::string("RIFF\x24\0\0\0WAVEfmt ", 16), "a WAV sound"},
      {std::string("RIFF\x24\0\0\0WEBPVP8 ", 16), "a WebP picture"},
      {std::string("\0\0\0\x20"
                   "ftypM4A ",
                   12),
       "an MP4 file"},
      {std::string("\x30\0\0\0\0\0\0\0{\"w\"", 12), "a safetensors file", "a safetensors file"},
  };
  return kKinds;
}

TEST(FileKind, IsNamedByEachReader) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "file";
  for (const Kind& kind : kinds()) {
    write_file(path, kind.begin + std::string(40, ' ') + "and more of it");
    for (const Reader& reader : readers()) {
      const std::string error = error_message<Error>([&] { reader.read(path); });
      if (reader.wanted == kind.wanted) {
        EXPECT_THAT(error, Not(HasSubstr(", got " + kind.name))) << reader.wanted;
      } else {
        EXPECT_THAT(error, StartsWith(path + ": expected " + reader.wanted + ", got " + kind.name));
      }
    }
  }
}

TEST(FileKind, OfAPointerOfGitIsNamedByEachReader) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "file";
  write_file(path, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");
  for (const Reader& reader : readers()) {
    EXPECT_THAT(error_message<Error>([&] { reader.read(path); }),
                StartsWith(path + ": a Git LFS pointer in place of the file itself"))
        << reader.wanted;
  }
}

// The length of its header may have any bytes.
TEST(FileKind, OfSafetensorsIsNotMistaken) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "file.safetensors";
  std::string header = "{}";
  header.resize(0x0280, ' ');
  write_file(path, std::string("\x80\x02\0\0\0\0\0\0", 8) + header);
  EXPECT_THAT(Safetensors::read(path).entries(), testing::IsEmpty());
}

TEST(FileKind, OfOtherBytesIsNotKnown) {
  EXPECT_EQ(kind_of(""), "");
  EXPECT_EQ(kind_of("hello"), "");
  EXPECT_EQ(kind_of(R"({"a": 1})"), "");
}

}  // namespace
}  // namespace qkv::files::file_kind_test
