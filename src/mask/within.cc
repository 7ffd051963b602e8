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
  WindowedMask(Mask mask, const MatrixWindow& window) : mask_(std::move(mask)), window_(window) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return mask_.allows(whole_of(window_, place), whole_of(window_, shape));
  }

  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    return mask_.classify(whole_of(window_, tile), whole_of(window_, shape));
  }

  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    const MaskShape whole = whole_of(window_, shape);
    Place place = whole_of(window_, first);
    if (window_.step_j == 1) return mask_.row_bits(place, count, whole);
    const int most = static_cast<int>(mask_detail::keys_among(window_, 64));
    std::uint64_t bits = 0;
    for (int c = 0; c < count; c += most, place.j = window_.key(first.j + c)) {
      const int keys = std::min(most, count - c);
      const std::int64_t reach = (keys - 1) * window_.step_j;
      const std::uint64_t wide = mask_.row_bits(place, static_cast<int>(reach) + 1, whole);
      for (int n = 0; n < keys; ++n) bits |= (wide >> (n * window_.step_j) & 1U) << (c + n);
    }
    return bits;
  }

  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    const KeyRange keys = mask_.hull(whole_of(window_, tile), whole_of(window_, shape));
    return {first_from(keys.begin), first_from(keys.end)};
  }

  void validate(const MaskShape& shape) const override {
    mask_detail::require_window_of("within", "window", window_, shape.Tq, shape.Tk);
    mask_.validate(whole_of(window_, shape));
  }
  void validate_entry(std::int64_t b, const MaskShape& shape) const override {
    mask_detail::require_window_of("within", "window", window_, shape.Tq, shape.Tk);
    mask_.node().validate_entry(b, whole_of(window_, shape));
  }
  [[nodiscard]] bool varies_by_batch() const override { return mask_.varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return mask_.varies_by_head(); }
  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* window = dynamic_cast<const WindowedMask*>(&other);
    return window != nullptr && window_ == window->window_ && mask_.node().is_same(window->mask_.node());
  }
  [[nodiscard]] mask_detail::Binding binding() const override { return mask_.node().binding(); }
  [[nodiscard]] std::string to_string() const override { return mask_.to_string(); }

 private:
  // The window's first key that is not before key j of the matrix.
  [[nodiscard]] std::int64_t first_from(std::int64_t j) const {
    return j <= window_.first_j ? 0 : mask_detail::keys_among(window_, j - window_.first_j);
  }

  Mask mask_;
  MatrixWindow window_;
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

Mask within(const Mask& mask, const MatrixWindow& window) {
  mask_detail::require_window("within", "window", window);
  return mask.is_all() ? mask : Mask(std::make_shared<const WindowedMask>(mask, window));
}

}  // namespace qkv
