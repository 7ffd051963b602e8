#include "qkv/captions.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "files/descriptor.h"
#include "files/place.h"
#include "qkv/files.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "metadata.jsonl";

[[noreturn]] void fail_captions(const std::string& where, const std::string& expected, const std::string& got) {
  throw FileError(where, "expected " + expected + ", got " + got);
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

CaptionedPicture picture_of(const fs::path& file, std::string_view text, std::string source) {
  CaptionedPicture picture{.file = file.string(), .caption = trimmed(text), .source = std::move(source)};
  if (picture.caption.empty()) fail_captions(picture.source, "a caption", "none");
  return picture;
}

bool is_png(const fs::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return extension == ".png";
}

// Pictures of the directory itself, by name; hidden ones, such as what macOS leaves on other file systems, are none.
std::set<fs::path> pictures_in(const fs::path& directory) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) files::fail("cannot read", directory.string(), error.message());
  std::set<fs::path> pictures;
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().filename().string().starts_with('.') || !is_png(entry.path())) continue;
    if (!files::is_folder(entry.path().string())) pictures.insert(entry.path());
  }
  return pictures;
}

std::vector<CaptionedPicture> beside_each(const std::set<fs::path>& pictures) {
  std::vector<CaptionedPicture> all;
  for (const fs::path& picture : pictures) {
    const fs::path caption = fs::path(picture).replace_extension(".txt");
    if (!files::is_there(caption.string())) {
      fail_captions(picture.string(), "its caption in " + caption.string(), "no such file");
    }
    all.push_back(picture_of(picture, files::read_text(caption.string()), caption.string()));
  }
  return all;
}

// The path of a line; none if it leaves the directory.
std::optional<fs::path> below(const fs::path& directory, const std::string& name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return std::nullopt;
  return directory / relative;
}

CaptionedPicture listed(const fs::path& directory, const std::string& line, const std::string& source) {
  const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
  const auto is_text = [&](const char* key) { return entry.contains(key) && entry.at(key).is_string(); };
  if (!entry.is_object() || !is_text("file_name") || !is_text("text")) {
    fail_captions(source, "an object with the texts file_name and text", line.substr(0, 80));
  }
  const auto name = entry.at("file_name").get<std::string>();
  const std::optional<fs::path> file = below(directory, name);
  if (!file || !is_png(*file)) fail_captions(source, "a PNG file below " + directory.string(), name);
  if (!files::is_there(file->string())) fail_captions(source, "a picture at " + file->string(), "no such file");
  return picture_of(*file, entry.at("text").get<std::string>(), source);
}

std::vector<CaptionedPicture> from_list(const fs::path& directory, const fs::path& list) {
  const std::string text = files::read_text(list.string());
  std::vector<CaptionedPicture> all;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = trimmed(std::string_view(text).substr(begin, end - begin));
    ++number;
    if (!line.empty()) all.push_back(listed(directory, line, list.string() + ", line " + std::to_string(number)));
    begin = end + 1;
  }
  return all;
}

void require_listed(const std::set<fs::path>& pictures, const std::vector<CaptionedPicture>& listed,
                    const fs::path& list) {
  std::set<fs::path> named;
  for (const CaptionedPicture& picture : listed) named.insert(picture.file);
  for (const fs::path& picture : pictures) {
    if (!named.contains(picture)) {
      fail_captions(picture.string(), "its caption in " + list.string(), "no line that names it");
    }
  }
}

}  // namespace

std::vector<CaptionedPicture> read_captions(const std::string& directory) {
  const std::set<fs::path> pictures = pictures_in(directory);
  const fs::path list = fs::path(directory) / kList;
  std::vector<CaptionedPicture> all;
  if (files::is_there(list.string())) {
    all = from_list(directory, list);
    require_listed(pictures, all, list);
  } else {
    all = beside_each(pictures);
  }
  if (all.empty()) {
    fail_captions(directory, "pictures, each NAME.png with NAME.txt beside it, or a metadata.jsonl that names them",
                  "none");
  }
  return all;
}

}  // namespace qkv
