#include "qkv/explain/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/ascii.h"
#include "core/parallel.h"
#include "qkv/files.h"
#include "qkv/npz.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

using Draw = std::string (*)(const NamedPicture&);

void add_pictures(std::vector<FileContent>& files, const std::vector<NamedPicture>& all, const std::string& directory,
                  std::string_view ending, Draw draw) {
  make_directory(directory);
  const std::size_t first = files.size();
  for (const NamedPicture& picture : all) {
    const auto path = std::filesystem::path(directory) / fmt::format("{}.{}", picture.name, ending);
    files.push_back({path.string(), {}});
  }
  core::parallel_for(threads(), static_cast<std::int64_t>(all.size()), [&](int, std::int64_t n) {
    const auto picture = static_cast<std::size_t>(n);
    files[first + picture].bytes = bytes_of(draw(all[picture]));
  });
}

Tensor member(const std::string& path, const std::vector<std::string>& names, const std::string& letter) {
  for (const std::string& name : {letter, std::string(1, core::small_letter(letter.front()))}) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return read_npz(path, name);
  }
  throw FileError(path, fmt::format("expected members Q, K and V (or q, k and v), found {}",
                                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

OwnTensors read_own_tensors(const std::string& path) {
  const std::vector<std::string> names = npz_names(path);
  return {member(path, names, "Q"), member(path, names, "K"), member(path, names, "V")};
}

void write_explanation(const Explanation& explanation, const ExplanationFiles& files) {
  std::vector<FileContent> contents;
  if (!files.page_path.empty()) contents.push_back({files.page_path, bytes_of(files.page)});
  if (!files.svg.empty() || !files.png.empty()) {
    const std::vector<NamedPicture> all = pictures(explanation);
    if (!files.svg.empty()) add_pictures(contents, all, files.svg, "svg", to_svg);
    if (!files.png.empty()) add_pictures(contents, all, files.png, "png", to_png);
  }
  if (!contents.empty()) write_files(contents);
}

}  // namespace qkv
