#include "pictures.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
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

// Programs go by a file's ending: a PNG that is called .svg would not be opened.
CLI::Validator not_of_another_format(std::string_view own) {
  const auto complaint = [own](const std::string& path) -> std::string {
    constexpr std::string_view kEndings[] = {".png",  ".svg",  ".pdf",  ".jpg", ".jpeg", ".gif",        ".bmp",
                                             ".webp", ".html", ".json", ".npy", ".npz",  ".safetensors"};
    std::string ending = std::filesystem::path(path).extension().string();
    for (char& letter : ending) {
      letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    const bool is_other = ending != own && std::ranges::find(kEndings, ending) != std::end(kEndings);
    return is_other ? fmt::format("expected a name that ends in {}, got \"{}\"", own, path) : "";
  };
  return {complaint, ""};
}

}  // namespace

void add_pictures(CLI::App& command, PicturePaths& paths, const std::string& group) {
  const auto add = [&](const char* name, std::string& path, const char* meaning, std::string_view ending) {
    command.add_option(name, path, meaning)->type_name("FILE")->check(not_of_another_format(ending))->group(group);
  };
  add("--png", paths.png, "Write a PNG", ".png");
  add("--svg", paths.svg, "Write an SVG", ".svg");
  add("--pdf", paths.pdf, "Write a PDF", ".pdf");
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
