#include <fmt/format.h>

#include "mask/node.h"

namespace qkv {
namespace {

class Prefix final : public mask_detail::IntervalNode {
 public:
  explicit Prefix(std::int64_t length) : length_(length) {}

  [[nodiscard]] KeyRange keys_of(std::int64_t /*b*/, std::int64_t /*i*/, const MaskShape& /*shape*/) const override {
    return {0, length_};
  }
  [[nodiscard]] std::string to_string() const override { return fmt::format("prefix({})", length_); }

 private:
  std::int64_t length_;
};

class KeyLengths final : public mask_detail::IntervalNode {
 public:
  explicit KeyLengths(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {}

  [[nodiscard]] KeyRange keys_of(std::int64_t b, std::int64_t /*i*/, const MaskShape& /*shape*/) const override {
    return {0, length_of(b)};
  }

  void validate(const MaskShape& shape) const override {
    require_count(shape);
    for (const std::int64_t length : lengths_) require_keys(length, shape);
  }

  void validate_entry(std::int64_t b, const MaskShape& shape) const override {
    require_count(shape);
    require_keys(length_of(b), shape);
  }

  [[nodiscard]] bool varies_by_batch() const override { return lengths_.size() > 1; }

  [[nodiscard]] std::string to_string() const override {
    return fmt::format("keys({})", mask_detail::list_text(lengths_));
  }

 private:
  [[nodiscard]] std::int64_t length_of(std::int64_t b) const {
    return lengths_.size() == 1 ? lengths_.front() : lengths_[static_cast<std::size_t>(b)];
  }

  void require_count(const MaskShape& shape) const {
    if (lengths_.size() != 1 && static_cast<std::int64_t>(lengths_.size()) != shape.B) {
      throw InvalidArgument("key_lengths", "lengths",
                            fmt::format("one length, or one for each of {} batch entries", shape.B),
                            std::to_string(lengths_.size()));
    }
  }

  static void require_keys(std::int64_t length, const MaskShape& shape) {
    if (length <= shape.Tk) return;
    throw InvalidArgument("key_lengths", "lengths", fmt::format("at most {}, the number of keys", shape.Tk),
                          std::to_string(length));
  }

  std::vector<std::int64_t> lengths_;
};

}  // namespace

Mask prefix(std::int64_t length) {
  mask_detail::require_at_least("prefix", "length", 0, length);
  return Mask(std::make_shared<const Prefix>(length));
}

Mask key_lengths(std::vector<std::int64_t> lengths) {
  if (lengths.empty()) throw InvalidArgument("key_lengths", "lengths", "one length or more", "none");
  mask_detail::require_all_at_least("key_lengths", "lengths", 0, lengths);
  return Mask(std::make_shared<const KeyLengths>(std::move(lengths)));
}

}  // namespace qkv
