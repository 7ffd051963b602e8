#include "qkv/mask.h"

#include <algorithm>

#include "mask/node.h"

namespace qkv {
namespace {

void require_extents(const MaskShape& shape) {
  mask_detail::require_at_least("MaskShape", "B", 0, shape.B);
  mask_detail::require_at_least("MaskShape", "H", 0, shape.H);
  mask_detail::require_at_least("MaskShape", "Tq", 0, shape.Tq);
  mask_detail::require_at_least("MaskShape", "Tk", 0, shape.Tk);
}

bool has_no_pairs(const Tile& tile) noexcept { return tile.i_end <= tile.i_begin || tile.j_end <= tile.j_begin; }

}  // namespace

Mask::Mask() : Mask(all()) {}

Mask::Mask(std::shared_ptr<const mask_detail::Node> node) : node_(std::move(node)) {}

bool Mask::allows(const Place& place, const MaskShape& shape) const { return node_->allows(place, shape); }

TileClass Mask::classify(const Tile& tile, const MaskShape& shape) const {
  return has_no_pairs(tile) ? TileClass::skip : node_->classify(tile, shape);
}

std::uint64_t Mask::row_bits(const Place& first, int count, const MaskShape& shape) const {
  if (count < 0 || count > 64) throw InvalidArgument("Mask::row_bits", "count", "0 to 64", std::to_string(count));
  return count == 0 ? 0 : node_->row_bits(first, count, shape);
}

KeyRange Mask::hull(const Tile& tile, const MaskShape& shape) const {
  if (has_no_pairs(tile)) return {tile.j_begin, tile.j_begin};
  const KeyRange range = node_->hull(tile, shape);
  const std::int64_t begin = std::clamp(range.begin, tile.j_begin, tile.j_end);
  return {begin, std::clamp(range.end, begin, tile.j_end)};
}

void Mask::validate(const MaskShape& shape) const {
  require_extents(shape);
  node_->validate(shape);
}

bool Mask::is_all() const { return node_ == all().node_; }
bool Mask::varies_by_batch() const { return node_->varies_by_batch(); }
bool Mask::varies_by_head() const { return node_->varies_by_head(); }
std::string Mask::to_string() const { return node_->to_string(); }

}  // namespace qkv
