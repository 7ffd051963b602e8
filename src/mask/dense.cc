#include "mask/array_text.h"
#include "mask/broadcast.h"
#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::Broadcast;

class Dense final : public mask_detail::Node {
 public:
  explicit Dense(const TensorView& visible)
      : visible_(mask_detail::copied_flags("dense", "visible", visible)),
        layout_("dense", "visible", visible.shape()) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& /*shape*/) const override {
    return flags()[layout_.offset(place.b, place.h, place.i, place.j)];
  }
  [[nodiscard]] TileClass classify(const Tile& /*tile*/, const MaskShape& /*shape*/) const override {
    return visible_.size() == 1 ? (flags()[0] ? TileClass::full : TileClass::skip) : TileClass::partial;
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& /*shape*/) const override {
    const bool* flag = flags() + layout_.offset(first.b, first.h, first.i, first.j);
    std::uint64_t bits = 0;
    for (int c = 0; c < count; ++c) bits |= std::uint64_t{flag[c * layout_.column_stride()]} << c;
    return bits;
  }
  void validate(const MaskShape& shape) const override { layout_.require_fits({shape.B, shape.H, shape.Tq, shape.Tk}); }
  [[nodiscard]] bool varies_by_batch() const override { return layout_.varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return layout_.varies_by_head(); }
  [[nodiscard]] std::string to_string() const override { return "dense(" + mask_detail::array_text(visible_) + ")"; }

 private:
  [[nodiscard]] const bool* flags() const { return visible_.values<bool>().data(); }

  Tensor visible_;
  Broadcast layout_;
};

}  // namespace

Mask dense(const TensorView& visible) { return Mask(std::make_shared<const Dense>(visible)); }

}  // namespace qkv
