#include "packed_blocks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace qkv::studio {
namespace {

constexpr std::size_t kMostWords = std::size_t{1} << 16;  // which two bytes number

void append_planes(const std::vector<std::uint32_t>& numbers, unsigned planes, std::string& to) {
  for (unsigned plane = 0; plane < planes; ++plane) {
    for (const std::uint32_t number : numbers) to += static_cast<char>(number >> (8 * plane) & 0xFFU);
  }
}

}  // namespace

PackedBlocks packed_blocks(std::string_view blocks) {
  std::vector<std::uint32_t> all(blocks.size() / sizeof(std::uint32_t));
  if (!all.empty()) std::memcpy(all.data(), blocks.data(), all.size() * sizeof(std::uint32_t));
  std::unordered_map<std::uint32_t, std::uint32_t> counts;
  for (const std::uint32_t word : all) ++counts[word];
  PackedBlocks packed;
  const bool is_shorter = counts.size() * sizeof(std::uint32_t) + all.size() * 2 < blocks.size();
  if (counts.size() > kMostWords || !is_shorter) {
    append_planes(all, sizeof(std::uint32_t), packed.bytes);
    return packed;
  }
  std::vector<std::uint32_t> words;
  for (const auto& [word, count] : counts) words.push_back(word);
  std::ranges::sort(
      words, [&](std::uint32_t a, std::uint32_t b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
  for (std::uint32_t n = 0; n < words.size(); ++n) counts[words[n]] = n;
  for (std::uint32_t& word : all) word = counts[word];
  packed.words = static_cast<std::uint32_t>(words.size());
  append_planes(words, sizeof(std::uint32_t), packed.bytes);
  append_planes(all, 2, packed.bytes);
  return packed;
}

}  // namespace qkv::studio
