#include "mask/node.h"

namespace qkv {
namespace {

class Predicate final : public mask_detail::Node {
 public:
  Predicate(std::string name, std::function<bool(const Place&, const MaskShape&)> rule)
      : name_(std::move(name)), rule_(std::move(rule)) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override { return rule_(place, shape); }
  [[nodiscard]] TileClass classify(const Tile& /*tile*/, const MaskShape& /*shape*/) const override {
    return TileClass::partial;
  }
  [[nodiscard]] bool varies_by_batch() const override { return true; }
  [[nodiscard]] bool varies_by_head() const override { return true; }
  [[nodiscard]] std::string to_string() const override { return "predicate<" + name_ + ">"; }

 private:
  std::string name_;
  std::function<bool(const Place&, const MaskShape&)> rule_;
};

}  // namespace

Mask predicate(std::string name, std::function<bool(const Place&, const MaskShape&)> rule) {
  if (!rule) throw InvalidArgument("predicate", "rule", "a function", "an empty function");
  return Mask(std::make_shared<const Predicate>(std::move(name), std::move(rule)));
}

}  // namespace qkv
