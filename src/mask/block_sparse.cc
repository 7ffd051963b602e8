#include "mask/array_text.h"
#include "mask/broadcast.h"
#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::Broadcast;

class BlockSparse final : public mask_detail::Node {
 public:
  BlockSparse(std::int64_t block, const TensorView& kept)
      : block_(block),
        kept_(mask_detail::copied_flags("block_sparse", "kept", kept)),
        layout_("block_sparse", "kept", kept.shape()) {
    if (kept.rank() < 2) throw InvalidArgument("block_sparse", "kept", "2 axes or more", kept.shape().to_string());
  }

  [[nodiscard]] bool allows(const Place& place, const MaskShape& /*shape*/) const override {
    return keeps(place.b, place.h, place.i / block_, place.j / block_);
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& /*shape*/) const override {
    bool any = false;
    bool every = true;
    for (std::int64_t row = tile.i_begin / block_; row <= (tile.i_end - 1) / block_; ++row) {
      for (std::int64_t column = tile.j_begin / block_; column <= (tile.j_end - 1) / block_; ++column) {
        const bool kept = keeps(tile.b, tile.h, row, column);
        any = any || kept;
        every = every && kept;
        if (any && !every) return TileClass::partial;
      }
    }
    return any ? TileClass::full : TileClass::skip;
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& /*shape*/) const override {
    std::uint64_t bits = 0;
    for (std::int64_t column = first.j / block_; column <= (first.j + count - 1) / block_; ++column) {
      if (!keeps(first.b, first.h, first.i / block_, column)) continue;
      const std::int64_t begin = column * block_;
      bits |= mask_detail::range_bits({begin, mask_detail::saturating_add(begin, block_)}, first.j, count);
    }
    return bits;
  }

  void validate(const MaskShape& shape) const override {
    const Shape wanted{shape.B, shape.H, blocks(shape.Tq), blocks(shape.Tk)};
    layout_.require_fits(wanted);
    for (const int axis : {-2, -1}) {
      if (kept_.dim(axis) == wanted[4 + axis]) continue;
      throw InvalidArgument(
          "block_sparse", "kept",
          "[" + std::to_string(wanted[2]) + ", " + std::to_string(wanted[3]) + "] blocks of " + std::to_string(block_),
          kept_.shape().to_string());
    }
  }

  [[nodiscard]] bool varies_by_batch() const override { return layout_.varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return layout_.varies_by_head(); }
  [[nodiscard]] std::string to_string() const override {
    return "blocks(" + std::to_string(block_) + ", " + mask_detail::array_text(kept_) + ")";
  }

 private:
  [[nodiscard]] std::int64_t blocks(std::int64_t extent) const { return extent / block_ + (extent % block_ != 0); }
  [[nodiscard]] bool keeps(std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column) const {
    return kept_.values<bool>()[static_cast<std::size_t>(layout_.offset(b, h, row, column))];
  }

  std::int64_t block_;
  Tensor kept_;
  Broadcast layout_;
};

}  // namespace

Mask block_sparse(std::int64_t block, const TensorView& kept) {
  mask_detail::require_at_least("block_sparse", "block", 1, block);
  return Mask(std::make_shared<const BlockSparse>(block, kept));
}

}  // namespace qkv
