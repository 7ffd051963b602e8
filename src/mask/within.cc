#include "mask/within.h"

#include <fmt/format.h>

#include <algorithm>

#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::whole_of;

void require(bool holds, std::string_view function, std::string_view argument, std::string_view expected,
             std::int64_t got) {
  if (!holds) throw InvalidArgument(function, argument, expected, std::to_string(got));
}

void require_inside(std::string_view function, std::string_view argument, std::string_view what, std::int64_t count,
                    std::int64_t first, std::int64_t step, std::int64_t extent) {
  const std::int64_t held = first < extent ? (extent - 1 - first) / step + 1 : 0;
  if (count <= held) return;
  throw InvalidArgument(function, argument, fmt::format("{} {} or more from {} on, {} apart", count, what, first, step),
                        fmt::format("{} of {}", held, extent));
}

class WindowedMask final : public mask_detail::Node {
 public:
  WindowedMask(Mask mask, std::vector<MatrixWindow> windows) : mask_(std::move(mask)), windows_(std::move(windows)) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    const MatrixWindow& window = of(place.b);
    return mask_.allows(whole_of(window, place), whole_of(window, shape));
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    const MatrixWindow& window = of(tile.b);
    return mask_.classify(whole_of(window, tile), whole_of(window, shape));
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    const MatrixWindow& window = of(first.b);
    const MaskShape whole = whole_of(window, shape);
    Place place = whole_of(window, first);
    if (window.step_j == 1) return mask_.row_bits(place, count, whole);
    const int most = static_cast<int>(mask_detail::keys_among(window, 64));
    std::uint64_t bits = 0;
    for (int c = 0; c < count; c += most, place.j = window.key(first.j + c)) {
      const int keys = std::min(most, count - c);
      const std::int64_t reach = (keys - 1) * window.step_j;
      const std::uint64_t wide = mask_.row_bits(place, static_cast<int>(reach) + 1, whole);
      for (int n = 0; n < keys; ++n) bits |= (wide >> (n * window.step_j) & 1U) << (c + n);
    }
    return bits;
  }

  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    const MatrixWindow& window = of(tile.b);
    const KeyRange keys = mask_.hull(whole_of(window, tile), whole_of(window, shape));
    return {first_from(window, keys.begin), first_from(window, keys.end)};
  }

  void validate(const MaskShape& shape) const override {
    if (varies()) {
      for (std::int64_t b = 0; b < shape.B; ++b) validate_entry(b, shape);
    } else {
      mask_detail::require_window_of("within", "window", windows_.front(), shape.Tq, shape.Tk);
      mask_.validate(whole_of(windows_.front(), shape));
    }
  }
  void validate_entry(std::int64_t b, const MaskShape& shape) const override {
    mask_detail::require_window_of("within", "window", of(b), shape.Tq, shape.Tk);
    mask_.node().validate_entry(b, whole_of(of(b), shape));
  }
  [[nodiscard]] bool varies_by_batch() const override { return varies() || mask_.varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return mask_.varies_by_head(); }
  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* same = dynamic_cast<const WindowedMask*>(&other);
    return same != nullptr && windows_ == same->windows_ && mask_.node().is_same(same->mask_.node());
  }
  [[nodiscard]] mask_detail::Binding binding() const override { return mask_.node().binding(); }
  [[nodiscard]] std::string to_string() const override { return mask_.to_string(); }

 private:
  [[nodiscard]] const MatrixWindow& of(std::int64_t b) const { return mask_detail::window_of(windows_, b); }
  [[nodiscard]] bool varies() const { return windows_.size() > 1; }

  // The window's first key that is not before key j of the matrix.
  static std::int64_t first_from(const MatrixWindow& window, std::int64_t j) {
    return j <= window.first_j ? 0 : mask_detail::keys_among(window, j - window.first_j);
  }

  Mask mask_;
  std::vector<MatrixWindow> windows_;
};

}  // namespace

void mask_detail::require_window(std::string_view function, std::string_view argument, const MatrixWindow& window) {
  require(window.Tq >= 0, function, argument, "Tq >= 0", window.Tq);
  require(window.Tk >= 0, function, argument, "Tk >= 0", window.Tk);
  require(window.first_i >= 0, function, argument, "first_i >= 0", window.first_i);
  require(window.first_j >= 0, function, argument, "first_j >= 0", window.first_j);
  require(window.step_i >= 1, function, argument, "step_i >= 1", window.step_i);
  require(window.step_j >= 1, function, argument, "step_j >= 1", window.step_j);
}

void mask_detail::require_window_of(std::string_view function, std::string_view argument, const MatrixWindow& window,
                                    std::int64_t queries, std::int64_t keys) {
  require_window(function, argument, window);
  require_inside(function, argument, "queries", queries, window.first_i, window.step_i, window.Tq);
  require_inside(function, argument, "keys", keys, window.first_j, window.step_j, window.Tk);
}

Mask mask_detail::within_each(const Mask& mask, const std::vector<MatrixWindow>& windows) {
  for (const MatrixWindow& window : windows) require_window("within", "window", window);
  return mask.is_all() ? mask : Mask(std::make_shared<const WindowedMask>(mask, windows));
}

Mask within(const Mask& mask, const MatrixWindow& window) { return mask_detail::within_each(mask, {window}); }

}  // namespace qkv
