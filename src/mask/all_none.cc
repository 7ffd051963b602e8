#include "mask/node.h"

namespace qkv {
namespace {

class All final : public mask_detail::IntervalNode {
 public:
  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t /*i*/, const MaskShape& shape) const override {
    return {0, shape.Tk};
  }
  [[nodiscard]] std::string to_string() const override { return "all"; }
};

class None final : public mask_detail::IntervalNode {
 public:
  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t /*i*/, const MaskShape& /*shape*/) const override {
    return {0, 0};
  }
  [[nodiscard]] std::string to_string() const override { return "none"; }
};

}  // namespace

Mask all() {
  static const auto kNode = std::make_shared<const All>();
  return Mask(kNode);
}

Mask none() {
  static const auto kNode = std::make_shared<const None>();
  return Mask(kNode);
}

}  // namespace qkv
