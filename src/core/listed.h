// Names in one line of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace qkv::core {

/// name_of() of a value, for joined().
struct NameOf {
  template <class Value>
  std::string_view operator()(const Value& value) const {
    return name_of(value);
  }
};

/// "a, b, c" of what `word` makes of each, a member or a function; with `last` of " or " "a, b or c"; of none "".
template <class Range, class Word = std::identity>
[[nodiscard]] std::string joined(Range&& all, const Word& word = {}, std::string_view last = ", ") {
  std::string text;
  for (auto one = std::begin(all); one != std::end(all); ++one) {
    if (one != std::begin(all)) text += std::next(one) == std::end(all) ? last : ", ";
    text += std::invoke(word, *one);
  }
  return text;
}

/// "a, b, c"; of more than `most` "a, b and 7 more", of none "nothing".
template <class Word = std::identity>
[[nodiscard]] std::string listed(const auto& all, std::size_t most = std::numeric_limits<std::size_t>::max(),
                                 const Word& word = {}) {
  if (all.empty()) return "nothing";
  const std::string text = joined(std::span(all).first(std::min(most, all.size())), word);
  return all.size() > most ? text + " and " + std::to_string(all.size() - most) + " more" : text;
}

}  // namespace qkv::core
