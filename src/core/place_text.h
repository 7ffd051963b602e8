// Places as people write them: a number of a matrix, "k:2,5", what it becomes, "k:2,5:0.7", and a head, "1.0".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/number_text.h"

namespace qkv::core {

struct PlaceText {
  std::string_view name;  // of the matrix; of the text that was read
  std::int64_t row = 0, column = 0;
};

struct NumberText {
  PlaceText place;
  double to = 0;
};

/// NAME:ROW,COLUMN; nullopt for another text, and for a place below 0.
[[nodiscard]] inline std::optional<PlaceText> place_from(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto place = numbers_from<std::int64_t>(text.substr(colon + 1), ',');
  if (!place || place->size() != 2 || place->front() < 0 || place->back() < 0) return std::nullopt;
  return PlaceText{.name = text.substr(0, colon), .row = place->front(), .column = place->back()};
}

/// NAME:ROW,COLUMN:NUMBER, whose number is finite.
[[nodiscard]] inline std::optional<NumberText> number_at_place_from(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto place = place_from(text.substr(0, colon));
  const auto to = number_from<double>(text.substr(colon + 1));
  if (!place || !to || !(*to - *to == 0)) return std::nullopt;
  return NumberText{.place = *place, .to = *to};
}

struct HeadText {
  std::optional<std::int64_t> layer, head;  // none for "*", which stands for all of them
};

/// LAYER.HEAD, each a number from 0 or *; nullopt for another text.
[[nodiscard]] inline std::optional<HeadText> head_from(std::string_view text) {
  const auto reads = [](std::string_view word, std::optional<std::int64_t>& number) {
    if (word == "*") return true;
    number = number_from<std::int64_t>(word);
    return number && *number >= 0;
  };
  const std::size_t dot = text.find('.');
  HeadText place;
  if (dot == std::string_view::npos) return std::nullopt;
  if (!reads(text.substr(0, dot), place.layer) || !reads(text.substr(dot + 1), place.head)) return std::nullopt;
  return place;
}

}  // namespace qkv::core
