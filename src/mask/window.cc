#include <fmt/format.h>

#include "mask/node.h"

namespace qkv {
namespace {

constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();

class Window final : public mask_detail::IntervalNode {
 public:
  Window(std::optional<std::int64_t> left, std::optional<std::int64_t> right, Align align)
      : left_(left), right_(right), align_(align) {}

  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t i, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, i, shape);
    return {left_ ? mask_detail::saturating_add(p, -*left_) : kLowest,
            right_ ? mask_detail::saturating_add(p + 1, *right_) : kHighest};
  }

  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* window = dynamic_cast<const Window*>(&other);
    return window != nullptr && window->left_ == left_ && window->right_ == right_ && window->align_ == align_;
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments;
    if (left_ && left_ == right_ && *left_ < kHighest) {
      arguments.push_back(std::to_string(*left_ + 1));
    } else {
      if (left_) arguments.push_back(fmt::format("left={}", *left_));
      if (right_) arguments.push_back(fmt::format("right={}", *right_));
    }
    mask_detail::append_align(arguments, align_);
    return mask_detail::call_text("window", arguments);
  }

 private:
  std::optional<std::int64_t> left_;
  std::optional<std::int64_t> right_;
  Align align_;
};

}  // namespace

Mask window(std::int64_t width, Align align) {
  mask_detail::require_at_least("window", "width", 1, width);
  return window(width - 1, width - 1, align);
}

Mask window(std::optional<std::int64_t> left, std::optional<std::int64_t> right, Align align) {
  if (left) mask_detail::require_at_least("window", "left", 0, *left);
  if (right) mask_detail::require_at_least("window", "right", 0, *right);
  if (!left && !right) return all();
  return Mask(std::make_shared<const Window>(left, right, align));
}

}  // namespace qkv
