#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "files/reading.h"
#include "qkv/api/pictures.h"

namespace qkv {

bool is_picture(const std::string& word) {
  constexpr std::array<std::string_view, 7> kSuffixes = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tiff"};
  std::string small = word;
  const auto in_small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  std::ranges::transform(small, small.begin(), in_small);
  if (std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return small.ends_with(suffix); })) return true;
  std::error_code none;
  return files::is_in_reach(word) && std::filesystem::is_regular_file(std::filesystem::status(word, none));
}

}  // namespace qkv
