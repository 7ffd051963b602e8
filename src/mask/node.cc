#include "mask/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace qkv::mask_detail {

std::uint64_t Node::row_bits(const Place& first, int count, const MaskShape& shape) const {
  std::uint64_t bits = 0;
  Place place = first;
  for (int c = 0; c < count; ++c, ++place.j) bits |= std::uint64_t{allows(place, shape)} << c;
  return bits;
}

KeyRange Node::hull(const Tile& tile, const MaskShape& /*shape*/) const { return {tile.j_begin, tile.j_end}; }

void Node::validate(const MaskShape& /*shape*/) const {}
void Node::validate_entry(std::int64_t /*b*/, const MaskShape& shape) const { validate(shape); }

bool IntervalNode::allows(const Place& place, const MaskShape& shape) const {
  const KeyRange keys = keys_of(place.b, place.i, shape);
  return keys.begin <= place.j && place.j < keys.end;
}

TileClass IntervalNode::classify(const Tile& tile, const MaskShape& shape) const {
  const KeyRange first = keys_of(tile.b, tile.i_begin, shape);
  const KeyRange last = keys_of(tile.b, tile.i_end - 1, shape);
  if (last.end <= tile.j_begin || first.begin >= tile.j_end) return TileClass::skip;
  if (last.begin <= tile.j_begin && first.end >= tile.j_end) return TileClass::full;
  return TileClass::partial;
}

std::uint64_t IntervalNode::row_bits(const Place& first, int count, const MaskShape& shape) const {
  return range_bits(keys_of(first.b, first.i, shape), first.j, count);
}

KeyRange IntervalNode::hull(const Tile& tile, const MaskShape& shape) const {
  return {keys_of(tile.b, tile.i_begin, shape).begin, keys_of(tile.b, tile.i_end - 1, shape).end};
}

std::uint64_t range_bits(const KeyRange& range, std::int64_t first, int count) noexcept {
  const std::int64_t begin = std::clamp(range.begin, first, first + count) - first;
  const std::int64_t end = std::clamp(range.end, first, first + count) - first;
  return begin < end ? low_bits(end) & ~low_bits(begin) : 0;
}

std::string call_text(std::string_view word, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::string(word);
  return fmt::format("{}({})", word, fmt::join(arguments, ", "));
}

void append_align(std::vector<std::string>& arguments, Align align) {
  if (align == Align::top_left) arguments.emplace_back("top_left");
}

std::string list_text(const std::vector<std::int64_t>& values) { return fmt::format("{}", fmt::join(values, ", ")); }

void require_at_least(std::string_view function, std::string_view argument, std::int64_t minimum, std::int64_t value) {
  if (value >= minimum) return;
  throw InvalidArgument(function, argument, fmt::format("{} or more", minimum), std::to_string(value));
}

void require_all_at_least(std::string_view function, std::string_view argument, std::int64_t minimum,
                          const std::vector<std::int64_t>& values) {
  for (const std::int64_t value : values) require_at_least(function, argument, minimum, value);
}

}  // namespace qkv::mask_detail
