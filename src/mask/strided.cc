#include <fmt/format.h>

#include "mask/node.h"

namespace qkv {
namespace {

std::int64_t floor_mod(std::int64_t a, std::int64_t n) noexcept {
  const std::int64_t rest = a % n;
  return rest < 0 ? rest + n : rest;
}

// Pairs whose distance is a multiple of `stride`.
class Steps {
 public:
  Steps(std::int64_t stride, Align align) : stride_(stride), align_(align) {}

  [[nodiscard]] std::int64_t distance(std::int64_t i, std::int64_t j, const MaskShape& shape) const noexcept {
    return mask_detail::position(align_, i, shape) - j;
  }

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const noexcept {
    return distance(place.i, place.j, shape) % stride_ == 0;
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const noexcept {
    if (stride_ == 1) return TileClass::full;
    const std::int64_t least = distance(tile.i_begin, tile.j_end - 1, shape);
    const std::int64_t most = distance(tile.i_end - 1, tile.j_begin, shape);
    if (floor_mod(-least, stride_) > most - least) return TileClass::skip;
    return least == most ? TileClass::full : TileClass::partial;
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const noexcept {
    std::uint64_t bits = 0;
    std::int64_t c = floor_mod(distance(first.i, first.j, shape), stride_);
    for (; c < count; c = mask_detail::saturating_add(c, stride_)) bits |= std::uint64_t{1} << c;
    return bits;
  }

 private:
  std::int64_t stride_;
  Align align_;
};

class Strided final : public mask_detail::Node {
 public:
  Strided(std::int64_t stride, Align align) : steps_(stride, align), stride_(stride), align_(align) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return steps_.allows(place, shape);
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    return steps_.classify(tile, shape);
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    return steps_.row_bits(first, count, shape);
  }
  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments{std::to_string(stride_)};
    mask_detail::append_align(arguments, align_);
    return mask_detail::call_text("strided", arguments);
  }

 private:
  Steps steps_;
  std::int64_t stride_;
  Align align_;
};

class Dilated final : public mask_detail::Node {
 public:
  Dilated(std::int64_t width, std::int64_t dilation, std::int64_t reach, Align align)
      : window_(window(reach, align)), steps_(dilation, align), width_(width), dilation_(dilation), align_(align) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return window_.allows(place, shape) && steps_.allows(place, shape);
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    const TileClass near = window_.classify(tile, shape);
    const TileClass even = steps_.classify(tile, shape);
    if (near == TileClass::skip || even == TileClass::skip) return TileClass::skip;
    return near == even ? near : TileClass::partial;
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    const std::uint64_t near = window_.row_bits(first, count, shape);
    return near == 0 ? 0 : near & steps_.row_bits(first, count, shape);
  }
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    return window_.hull(tile, shape);
  }
  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments{std::to_string(width_), std::to_string(dilation_)};
    mask_detail::append_align(arguments, align_);
    return mask_detail::call_text("dilated", arguments);
  }

 private:
  Mask window_;
  Steps steps_;
  std::int64_t width_;
  std::int64_t dilation_;
  Align align_;
};

}  // namespace

Mask strided(std::int64_t stride, Align align) {
  mask_detail::require_at_least("strided", "stride", 1, stride);
  return Mask(std::make_shared<const Strided>(stride, align));
}

Mask dilated(std::int64_t width, std::int64_t dilation, Align align) {
  mask_detail::require_at_least("dilated", "width", 1, width);
  mask_detail::require_at_least("dilated", "dilation", 1, dilation);
  std::int64_t reach = 0;
  if (__builtin_mul_overflow(width, dilation, &reach)) {
    throw InvalidArgument("dilated", "width", "width * dilation below 2^63", fmt::format("{} * {}", width, dilation));
  }
  return Mask(std::make_shared<const Dilated>(width, dilation, reach, align));
}

}  // namespace qkv
