#include "pictures.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace qkv::cli {
namespace {

template <class Drawn>
void write(const PicturePaths& paths, const Drawn& drawn) {
  std::vector<FileContent> files;
  const auto add = [&](const std::string& path, const auto& draw) {
    if (!path.empty()) files.push_back(file_of(path, draw()));
  };
  add(paths.png, [&] { return to_png(drawn); });
  add(paths.svg, [&] { return to_svg(drawn); });
  add(paths.pdf, [&] { return to_pdf(drawn); });
  write_files(files);
}

}  // namespace

Fields<PicturePaths> picture_fields(const std::string& group) {
  Fields<PicturePaths> fields;
  const auto add = [&](const char* name, std::string PicturePaths::* path, const char* meaning) {
    fields.add(path, {.name = name,
                      .form = "FILE",
                      .meaning = meaning,
                      .group = group,
                      .ending = std::string(".") + name,
                      .example = std::string("picture.") + name});
  };
  add("png", &PicturePaths::png, "Write a PNG");
  add("svg", &PicturePaths::svg, "Write an SVG");
  add("pdf", &PicturePaths::pdf, "Write a PDF");
  return fields;
}

std::string pictures_report(const PicturePaths& paths) {
  std::string text;
  for (const std::string& path : {paths.png, paths.svg, paths.pdf}) {
    if (!path.empty()) text += fmt::format("picture   {}\n", path);
  }
  return text;
}

Fields<PictureFolders> picture_folder_fields(const char* svg, const char* png) {
  Fields<PictureFolders> fields;
  fields.add(&PictureFolders::svg, {.name = "svg", .form = "DIR", .meaning = svg});
  fields.add(&PictureFolders::png, {.name = "png", .form = "DIR", .meaning = png});
  fields.give_examples({{"svg", "pictures"}, {"png", "pictures"}});
  return fields;
}

void prepare(const PictureFolders& folders, std::initializer_list<std::string_view> names) {
  for (const auto& [folder, ending] :
       {std::pair(&folders.svg, ".svg"), {&folders.png, ".png"}, {&folders.pdf, ".pdf"}}) {
    if (folder->empty()) continue;
    make_directory(*folder);
    for (const std::string_view name : names) require_writable(fmt::format("{}/{}{}", *folder, name, ending));
  }
}

FileContent file_of(const std::string& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {path, {bytes.begin(), bytes.end()}};
}

std::vector<FileContent> drawn(const PictureFolders& folders, std::span<const Drawing> drawings) {
  std::vector<FileContent> files;
  const auto add = [&](const std::string& folder, const char* ending, const Drawing& drawing, const auto& draw) {
    if (!folder.empty()) files.push_back(file_of(folder + "/" + drawing.name + ending, draw()));
  };
  for (const Drawing& one : drawings) {
    add(folders.svg, ".svg", one, one.svg);
    add(folders.png, ".png", one, one.png);
    add(folders.pdf, ".pdf", one, one.pdf);
  }
  return files;
}

void write_pictures(const PicturePaths& paths, const Panel& panel) { write(paths, panel); }
void write_pictures(const PicturePaths& paths, const Chart& chart) { write(paths, chart); }

}  // namespace qkv::cli
