#include "picture_word.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace qkv::cli {

bool is_picture(const std::string& word) {
  constexpr std::array<std::string_view, 7> kSuffixes = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tiff"};
  std::string small = word;
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return small.ends_with(suffix); })) return true;
  std::error_code none;
  return std::filesystem::is_regular_file(word, none);
}

}  // namespace qkv::cli
