#include <algorithm>
#include <bit>

#include "mask/array_text.h"
#include "mask/broadcast.h"
#include "mask/node.h"
#include "mask/packed_flags.h"

namespace qkv {
namespace {

class Dense final : public mask_detail::Node {
 public:
  explicit Dense(const TensorView& visible) : flags_("dense", "visible", visible) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& /*shape*/) const override {
    return flags_.bits(place.b, place.h, place.i, place.j, 1) != 0;
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& /*shape*/) const override {
    bool any = false;
    bool every = true;
    for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i) {
      for (std::int64_t j = tile.j_begin; j < tile.j_end; j += 64) {
        const int count = static_cast<int>(std::min<std::int64_t>(64, tile.j_end - j));
        const std::uint64_t bits = flags_.bits(tile.b, tile.h, i, j, count);
        any = any || bits != 0;
        every = every && bits == mask_detail::low_bits(count);
        if (any && !every) return TileClass::partial;
      }
    }
    return any ? TileClass::full : TileClass::skip;
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& /*shape*/) const override {
    return flags_.bits(first.b, first.h, first.i, first.j, count);
  }

  // From the first key that one of the queries sees to the last.
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    if (flags_.repeats_columns()) return Node::hull(tile, shape);
    KeyRange hull = {tile.j_end, tile.j_begin};
    for (std::int64_t j = tile.j_begin; j < tile.j_end; j += 64) {
      const int count = static_cast<int>(std::min<std::int64_t>(64, tile.j_end - j));
      std::uint64_t seen = 0;
      for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i) seen |= flags_.bits(tile.b, tile.h, i, j, count);
      if (seen == 0) continue;
      hull.begin = std::min(hull.begin, j + std::countr_zero(seen));
      hull.end = j + 64 - std::countl_zero(seen);
    }
    return hull.begin < hull.end ? hull : KeyRange{tile.j_begin, tile.j_begin};
  }

  void validate(const MaskShape& shape) const override {
    flags_.layout().require_fits({shape.B, shape.H, shape.Tq, shape.Tk});
  }
  [[nodiscard]] bool varies_by_batch() const override { return flags_.layout().varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return flags_.layout().varies_by_head(); }
  // Of many flags it says the shape alone, and u8 counts as b8.
  [[nodiscard]] std::string to_string() const override {
    const Shape& shape = flags_.layout().shape();
    const bool is_written_out = mask_detail::is_written_out(shape.product());
    return "dense(" +
           (is_written_out ? mask_detail::array_text(flags_.unpacked()) : mask_detail::summary_text(DType::b8, shape)) +
           ")";
  }

 private:
  mask_detail::PackedFlags flags_;
};

}  // namespace

Mask dense(const TensorView& visible) { return Mask(std::make_shared<const Dense>(visible)); }

}  // namespace qkv
