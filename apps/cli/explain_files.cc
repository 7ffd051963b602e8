#include "explain_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "misuse.h"
#include "qkv/files.h"
#include "qkv/npz.h"

namespace qkv::cli {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(fmt::format("cannot make the directory {}: {}", path, error.message()));
}

std::string parent_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

using Draw = std::string (*)(const NamedPicture&);

std::string as_svg(const NamedPicture& picture) {
  if (picture.diagram) return to_svg(*picture.diagram);
  return picture.panel ? to_svg(*picture.panel) : to_svg(*picture.chart);
}

std::string as_png(const NamedPicture& picture) {
  if (picture.diagram) return to_png(*picture.diagram);
  return picture.panel ? to_png(*picture.panel) : to_png(*picture.chart);
}

void add_pictures(std::vector<FileContent>& files, const std::vector<NamedPicture>& all, const std::string& directory,
                  std::string_view ending, Draw draw) {
  make_directory(directory);
  for (const NamedPicture& picture : all) {
    const auto path = std::filesystem::path(directory) / fmt::format("{}.{}", picture.name, ending);
    files.push_back({path.string(), bytes_of(draw(picture))});
  }
}

Tensor member(const std::string& path, const std::vector<std::string>& names, const std::string& letter) {
  for (const std::string& name : {letter, std::string(1, static_cast<char>(std::tolower(letter.front())))}) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return read_npz(path, name);
  }
  throw Error(fmt::format("{}: expected members Q, K and V (or q, k and v), found {}", path,
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

OwnTensors read_own_tensors(const std::string& path) {
  const std::vector<std::string> names = npz_names(path);
  return {member(path, names, "Q"), member(path, names, "K"), member(path, names, "V")};
}

OwnTensors read_own_tensors(const OwnPaths& paths) {
  const auto read = [](const std::string& option, const std::string& path) {
    if (path.empty()) misuse(option, "a tensor beside the others: --q, --k and --v go together", "none");
    return of_option(option, [&] { return read_tensor(path); });
  };
  return {read("--q", paths.q), read("--k", paths.k), read("--v", paths.v)};
}

std::string text_of_standard_input() {
  constexpr std::size_t kMost = std::size_t{1} << 20;  // kExplainTokens words of 256 bytes
  std::string text(kMost + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  if (std::ferror(stdin) != 0) throw Error("cannot read standard input");
  if (text.size() > kMost) throw Error(fmt::format("standard input: expected a text of at most {} bytes", kMost));
  return text;
}

void ExplainFiles::require_writable() const {
  if (html.empty() || prints_page()) return;
  const std::string parent = parent_of(html);
  if (!std::filesystem::is_directory(parent)) {
    throw Error(fmt::format("cannot write {}: there is no directory {}", html, parent));
  }
  qkv::require_writable(html);
}

void ExplainFiles::write(const Explanation& explanation) const {
  if (!wants_any()) return;
  std::vector<FileContent> files;
  const std::vector<NamedPicture> all = pictures(explanation);
  if (!html.empty() && !prints_page()) files.push_back({html, bytes_of(to_html(explanation))});
  if (!svg.empty()) add_pictures(files, all, svg, "svg", as_svg);
  if (!png.empty()) add_pictures(files, all, png, "png", as_png);
  write_files(files);
}

std::string ExplainFiles::report() const {
  std::string text;
  if (!html.empty() && !prints_page()) text += fmt::format("page      {}\n", html);
  if (!svg.empty()) text += fmt::format("pictures  {}/*.svg\n", svg);
  if (!png.empty()) text += fmt::format("pictures  {}/*.png\n", png);
  return text;
}

}  // namespace qkv::cli
