#include <fmt/format.h>

#include <algorithm>

#include "mask/node.h"

namespace qkv {
namespace {

// Ranges in order that neither meet nor touch.
class GlobalTokens final : public mask_detail::Node {
 public:
  GlobalTokens(std::vector<KeyRange> ranges, Align align) : ranges_(std::move(ranges)), align_(align) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, place.i, shape);
    return holds_all({p, p + 1}) || holds_all({place.j, place.j + 1});
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    const KeyRange queries{mask_detail::position(align_, tile.i_begin, shape),
                           mask_detail::position(align_, tile.i_end, shape)};
    const KeyRange keys{tile.j_begin, tile.j_end};
    if (holds_all(queries) || holds_all(keys)) return TileClass::full;
    return holds_any(queries) || holds_any(keys) ? TileClass::partial : TileClass::skip;
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, first.i, shape);
    if (holds_all({p, p + 1})) return mask_detail::low_bits(count);
    std::uint64_t bits = 0;
    for (auto range = ending_after(first.j); range != ranges_.end() && range->begin < first.j + count; ++range) {
      bits |= mask_detail::range_bits(*range, first.j, count);
    }
    return bits;
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments{tokens_text()};
    mask_detail::append_align(arguments, align_);
    return mask_detail::call_text("global", arguments);
  }

 private:
  [[nodiscard]] std::vector<KeyRange>::const_iterator ending_after(std::int64_t token) const {
    return std::ranges::upper_bound(ranges_, token, {}, &KeyRange::end);
  }

  [[nodiscard]] bool holds_all(const KeyRange& tokens) const {
    const auto range = ending_after(tokens.begin);
    return range != ranges_.end() && range->begin <= tokens.begin && tokens.end <= range->end;
  }

  [[nodiscard]] bool holds_any(const KeyRange& tokens) const {
    const auto range = ending_after(tokens.begin);
    return range != ranges_.end() && range->begin < tokens.end;
  }

  [[nodiscard]] std::string tokens_text() const {
    if (ranges_.empty()) return "0";
    if (ranges_.size() == 1 && ranges_.front().begin == 0) return std::to_string(ranges_.front().end);
    std::vector<std::int64_t> positions;
    for (const KeyRange& range : ranges_) {
      for (std::int64_t token = range.begin; token < range.end; ++token) positions.push_back(token);
    }
    return fmt::format("at=[{}]", mask_detail::list_text(positions));
  }

  std::vector<KeyRange> ranges_;
  Align align_;
};

}  // namespace

Mask global_tokens(std::int64_t count, Align align) {
  mask_detail::require_at_least("global_tokens", "count", 0, count);
  std::vector<KeyRange> ranges;
  if (count > 0) ranges.push_back({0, count});
  return Mask(std::make_shared<const GlobalTokens>(std::move(ranges), align));
}

Mask global_tokens_at(std::vector<std::int64_t> positions, Align align) {
  mask_detail::require_all_at_least("global_tokens", "positions", 0, positions);
  const auto last = std::ranges::max_element(positions);
  if (last != positions.end() && *last == std::numeric_limits<std::int64_t>::max()) {
    throw InvalidArgument("global_tokens", "positions", "positions below 2^63 - 1", std::to_string(*last));
  }
  std::ranges::sort(positions);
  std::vector<KeyRange> ranges;
  for (const std::int64_t token : positions) {
    const std::int64_t end = mask_detail::saturating_add(token, 1);
    if (ranges.empty() || ranges.back().end < token) {
      ranges.push_back({token, end});
    } else {
      ranges.back().end = end;
    }
  }
  return Mask(std::make_shared<const GlobalTokens>(std::move(ranges), align));
}

}  // namespace qkv
