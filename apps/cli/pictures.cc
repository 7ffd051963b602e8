#include "pictures.h"

#include <fmt/format.h>

#include <array>

namespace qkv::cli {
namespace {

// By their names, which their files' names end in.
constexpr std::array kKinds = {std::pair("png", &Pictures::png), std::pair("svg", &Pictures::svg),
                               std::pair("pdf", &Pictures::pdf)};

std::string in_folder(const std::string& folder, std::string_view name, const char* kind) {
  return fmt::format("{}/{}.{}", folder, name, kind);
}

}  // namespace

Fields<Pictures> picture_fields(const std::string& group) {
  Fields<Pictures> fields;
  const auto add = [&](const char* name, std::string Pictures::* path, const char* meaning) {
    fields.add(path, {.name = name,
                      .form = "FILE",
                      .meaning = meaning,
                      .group = group,
                      .ending = std::string(".") + name,
                      .file = FileUse::written,
                      .example = std::string("picture.") + name});
  };
  add("png", &Pictures::png, "Write a PNG");
  add("svg", &Pictures::svg, "Write an SVG");
  add("pdf", &Pictures::pdf, "Write a PDF");
  return fields;
}

Fields<Pictures> folder_fields(const std::string& group) {
  Fields<Pictures> fields;
  const auto add = [&](const char* name, std::string Pictures::* path, const char* meaning) {
    fields.add(path, {.name = name, .form = "DIR", .meaning = meaning, .group = group, .example = "pictures"});
  };
  add("svg", &Pictures::svg, "Write the pictures into a folder, as SVG");
  add("png", &Pictures::png, "Likewise as PNG");
  add("pdf", &Pictures::pdf, "Likewise as PDF");
  return fields;
}

void make_folders(const Pictures& folders, std::initializer_list<std::string_view> names) {
  for (const auto& [kind, folder] : kKinds) {
    if ((folders.*folder).empty()) continue;
    make_directory(folders.*folder);
    for (const std::string_view name : names) require_writable(in_folder(folders.*folder, name, kind));
  }
}

FileContent file_of(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {path, {bytes.begin(), bytes.end()}};
}

std::vector<FileContent> drawn(const Pictures& to, std::span<const Drawing> drawings) {
  std::vector<FileContent> files;
  for (const Drawing& one : drawings) {
    const auto add = [&](const std::string& place, const char* kind, const auto& draw) {
      if (place.empty()) return;
      files.push_back(file_of(one.name.empty() ? place : in_folder(place, one.name, kind), draw()));
    };
    add(to.png, "png", one.png);
    add(to.svg, "svg", one.svg);
    add(to.pdf, "pdf", one.pdf);
  }
  return files;
}

std::string pictures_report(const Pictures& files) {
  std::string text;
  for (const auto& [kind, file] : kKinds) {
    if (!(files.*file).empty()) text += fmt::format("picture   {}\n", files.*file);
  }
  return text;
}

}  // namespace qkv::cli
