#include "pictures.h"

#include <CLI/CLI.hpp>
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

void add_pictures(CLI::App& command, PicturePaths& paths, const std::string& group) {
  command.add_option("--png", paths.png, "Write a PNG")->type_name("FILE")->group(group);
  command.add_option("--svg", paths.svg, "Write an SVG")->type_name("FILE")->group(group);
  command.add_option("--pdf", paths.pdf, "Write a PDF")->type_name("FILE")->group(group);
}

void require_writable(const PicturePaths& paths) {
  for (const std::string& path : {paths.png, paths.svg, paths.pdf}) {
    if (!path.empty()) qkv::require_writable(path);
  }
}

void write_pictures(const PicturePaths& paths, const Panel& panel) { write(paths, panel); }
void write_pictures(const PicturePaths& paths, const Chart& chart) { write(paths, chart); }

}  // namespace qkv::cli
