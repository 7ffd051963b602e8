#include <fmt/format.h>

#include <algorithm>

#include "mask/node.h"

namespace qkv {
namespace {

class Documents final : public mask_detail::IntervalNode {
 public:
  Documents(std::vector<std::int64_t> lengths, Align align) : lengths_(std::move(lengths)), align_(align) {
    for (const std::int64_t length : lengths_) ends_.push_back(mask_detail::saturating_add(total(), length));
  }

  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t i, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, i, shape);
    if (p < 0) return {0, 0};
    const auto end = std::ranges::upper_bound(ends_, p);
    if (end == ends_.end()) return {total(), total()};
    return {end == ends_.begin() ? 0 : *(end - 1), *end};
  }

  void validate(const MaskShape& shape) const override {
    if (total() == shape.Tk) return;
    throw InvalidArgument("documents", "lengths", fmt::format("a sum of {}, the number of keys", shape.Tk),
                          std::to_string(total()));
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments{mask_detail::list_text(lengths_)};
    mask_detail::append_align(arguments, align_);
    return mask_detail::call_text("documents", arguments);
  }

 private:
  [[nodiscard]] std::int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }

  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> ends_;  // of each document, in keys
  Align align_;
};

}  // namespace

Mask documents(std::vector<std::int64_t> lengths, Align align) {
  if (lengths.empty()) throw InvalidArgument("documents", "lengths", "one length or more", "none");
  mask_detail::require_all_at_least("documents", "lengths", 0, lengths);
  return Mask(std::make_shared<const Documents>(std::move(lengths), align));
}

}  // namespace qkv
