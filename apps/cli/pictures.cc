#include "pictures.h"

#include <fmt/format.h>

#include <vector>

namespace qkv::cli {
namespace {

template <class Drawn>
void write(const PicturePaths& paths, const Drawn& drawn) {
  std::vector<FileContent> files;
  const auto add = [&](const std::string& path, const auto& draw) {
    if (path.empty()) return;
    const std::string text = draw();
    const auto bytes = std::as_bytes(std::span(text));
    files.push_back({path, {bytes.begin(), bytes.end()}});
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

void require_writable(const PicturePaths& paths) {
  for (const std::string& path : {paths.png, paths.svg, paths.pdf}) {
    if (!path.empty()) qkv::require_writable(path);
  }
}

std::string pictures_report(const PicturePaths& paths) {
  std::string text;
  for (const std::string& path : {paths.png, paths.svg, paths.pdf}) {
    if (!path.empty()) text += fmt::format("picture   {}\n", path);
  }
  return text;
}

void write_pictures(const PicturePaths& paths, const Panel& panel) { write(paths, panel); }
void write_pictures(const PicturePaths& paths, const Chart& chart) { write(paths, chart); }

}  // namespace qkv::cli
