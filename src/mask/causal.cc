#include <fmt/format.h>

#include "mask/node.h"

namespace qkv {
namespace {

class Causal final : public mask_detail::IntervalNode {
 public:
  Causal(Align align, std::int64_t offset) : align_(align), offset_(offset) {}

  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t i, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, i, shape);
    return {0, mask_detail::saturating_add(p + 1, offset_)};
  }

  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* causal = dynamic_cast<const Causal*>(&other);
    return causal != nullptr && causal->align_ == align_ && causal->offset_ == offset_;
  }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments;
    mask_detail::append_align(arguments, align_);
    if (offset_ != 0) arguments.push_back(fmt::format("offset={}", offset_));
    return mask_detail::call_text("causal", arguments);
  }

 private:
  Align align_;
  std::int64_t offset_;
};

class CausalByBatch final : public mask_detail::IntervalNode {
 public:
  CausalByBatch(Align align, std::vector<std::int64_t> offsets) : align_(align), offsets_(std::move(offsets)) {}

  [[nodiscard]] KeyRange keys_of(std::int64_t b, std::int64_t i, const MaskShape& shape) const override {
    const std::int64_t p = mask_detail::position(align_, i, shape);
    return {0, mask_detail::saturating_add(p + 1, offsets_[static_cast<std::size_t>(b)])};
  }

  void validate(const MaskShape& shape) const override {
    if (static_cast<std::int64_t>(offsets_.size()) == shape.B) return;
    throw InvalidArgument("causal", "offsets", fmt::format("one for each of {} batch entries", shape.B),
                          std::to_string(offsets_.size()));
  }

  [[nodiscard]] bool varies_by_batch() const override { return true; }

  [[nodiscard]] std::string to_string() const override {
    std::vector<std::string> arguments;
    mask_detail::append_align(arguments, align_);
    arguments.push_back(fmt::format("offset=[{}]", mask_detail::list_text(offsets_)));
    return mask_detail::call_text("causal", arguments);
  }

 private:
  Align align_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

Mask causal(Align align, std::int64_t offset) { return Mask(std::make_shared<const Causal>(align, offset)); }

Mask causal_offsets(std::vector<std::int64_t> offsets, Align align) {
  return Mask(std::make_shared<const CausalByBatch>(align, std::move(offsets)));
}

}  // namespace qkv
