#include "insight/classes.h"

#include <algorithm>

namespace qkv::insight {

std::int64_t heads_of_class(const SiteHeads& site, const std::string& word) {
  return std::ranges::count_if(site.all, [&](const HeadStatistics& head) { return head.shown.word == word; });
}

std::vector<std::string> classes_of(const SiteHeads& site) {
  std::vector<std::string> words;
  for (const TextPattern& pattern : text_patterns()) words.emplace_back(pattern.word);
  words.insert(words.end(), {"broad", "mixed", "-"});
  std::erase_if(words, [&](const std::string& word) { return heads_of_class(site, word) == 0; });
  return words;
}

std::vector<std::size_t> patterns_of(const SiteHeads& site) {
  std::vector<std::size_t> patterns;
  for (std::size_t p = 0; p < text_patterns().size(); ++p) {
    const auto has_rows = [&](const HeadStatistics& head) { return head.shares[p].rows > 0; };
    if (std::ranges::any_of(site.all, has_rows)) patterns.push_back(p);
  }
  return patterns;
}

}  // namespace qkv::insight
