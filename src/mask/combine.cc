// Both (&), either (|) and negation. Chains of one operator are one node, so a long text does not make a deep tree.
#include <algorithm>

#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::Binding;
using mask_detail::Node;

// Adds parentheses if the operand binds more loosely than the operator.
void append_operand(std::string& text, const Mask& mask, Binding over) {
  const bool loose = mask.node().binding() < over;
  text.append(loose ? "(" : "").append(mask.to_string()).append(loose ? ")" : "");
}

class Chain : public Node {
 public:
  explicit Chain(std::vector<Mask> parts) : parts_(std::move(parts)) {}

  void validate(const MaskShape& shape) const final {
    for (const Mask& part : parts_) part.validate(shape);
  }
  void validate_entry(std::int64_t b, const MaskShape& shape) const final {
    for (const Mask& part : parts_) part.node().validate_entry(b, shape);
  }
  [[nodiscard]] bool varies_by_batch() const final {
    return std::ranges::any_of(parts_, [](const Mask& part) { return part.varies_by_batch(); });
  }
  [[nodiscard]] bool varies_by_head() const final {
    return std::ranges::any_of(parts_, [](const Mask& part) { return part.varies_by_head(); });
  }
  [[nodiscard]] const std::vector<Mask>& parts() const { return parts_; }

 protected:
  [[nodiscard]] bool has_same_parts(const Chain& other) const {
    return std::ranges::equal(parts_, other.parts_,
                              [](const Mask& a, const Mask& b) { return a.node().is_same(b.node()); });
  }

  [[nodiscard]] std::string joined(std::string_view sign) const {
    std::string text;
    for (const Mask& part : parts_) {
      if (!text.empty()) text.append(sign);
      append_operand(text, part, binding());
    }
    return text;
  }

 private:
  std::vector<Mask> parts_;
};

class Both final : public Chain {
 public:
  using Chain::Chain;

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return std::ranges::all_of(parts(), [&](const Mask& part) { return part.allows(place, shape); });
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    TileClass result = TileClass::full;
    for (const Mask& part : parts()) {
      const TileClass one = part.classify(tile, shape);
      if (one == TileClass::skip) return TileClass::skip;
      if (one == TileClass::partial) result = TileClass::partial;
    }
    return result;
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    std::uint64_t bits = mask_detail::low_bits(count);
    for (const Mask& part : parts()) {
      bits &= part.row_bits(first, count, shape);
      if (bits == 0) break;
    }
    return bits;
  }
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    KeyRange range{tile.j_begin, tile.j_end};
    for (const Mask& part : parts()) {
      const KeyRange one = part.hull(tile, shape);
      range = {std::max(range.begin, one.begin), std::min(range.end, one.end)};
    }
    return range;
  }
  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* both = dynamic_cast<const Both*>(&other);
    return both != nullptr && has_same_parts(*both);
  }
  [[nodiscard]] Binding binding() const override { return Binding::both; }
  [[nodiscard]] std::string to_string() const override { return joined(" & "); }
};

class Either final : public Chain {
 public:
  using Chain::Chain;

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return std::ranges::any_of(parts(), [&](const Mask& part) { return part.allows(place, shape); });
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    TileClass result = TileClass::skip;
    for (const Mask& part : parts()) {
      const TileClass one = part.classify(tile, shape);
      if (one == TileClass::full) return TileClass::full;
      if (one == TileClass::partial) result = TileClass::partial;
    }
    return result;
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    std::uint64_t bits = 0;
    for (const Mask& part : parts()) {
      bits |= part.row_bits(first, count, shape);
      if (bits == mask_detail::low_bits(count)) break;
    }
    return bits;
  }
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    KeyRange range{tile.j_end, tile.j_begin};
    for (const Mask& part : parts()) {
      const KeyRange one = part.hull(tile, shape);
      if (one.begin >= one.end) continue;
      range = {std::min(range.begin, one.begin), std::max(range.end, one.end)};
    }
    return range;
  }
  [[nodiscard]] bool is_same(const Node& other) const override {
    const auto* either = dynamic_cast<const Either*>(&other);
    return either != nullptr && has_same_parts(*either);
  }
  [[nodiscard]] Binding binding() const override { return Binding::either; }
  [[nodiscard]] std::string to_string() const override { return joined(" | "); }
};

class Negation final : public Node {
 public:
  explicit Negation(Mask inner) : inner_(std::move(inner)) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return !inner_.allows(place, shape);
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    switch (inner_.classify(tile, shape)) {
      case TileClass::skip:
        return TileClass::full;
      case TileClass::full:
        return TileClass::skip;
      case TileClass::partial:
        break;
    }
    return TileClass::partial;
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    return ~inner_.row_bits(first, count, shape) & mask_detail::low_bits(count);
  }
  void validate(const MaskShape& shape) const override { inner_.validate(shape); }
  void validate_entry(std::int64_t b, const MaskShape& shape) const override { inner_.node().validate_entry(b, shape); }
  [[nodiscard]] bool varies_by_batch() const override { return inner_.varies_by_batch(); }
  [[nodiscard]] bool varies_by_head() const override { return inner_.varies_by_head(); }
  [[nodiscard]] Binding binding() const override { return Binding::negation; }
  [[nodiscard]] std::string to_string() const override {
    std::string text = "!";
    append_operand(text, inner_, Binding::negation);
    return text;
  }
  [[nodiscard]] const Mask& inner() const { return inner_; }

 private:
  Mask inner_;
};

template <class ChainNode>
void append_parts(std::vector<Mask>& parts, const Mask& mask) {
  const auto* chain = dynamic_cast<const ChainNode*>(&mask.node());
  if (chain == nullptr) {
    parts.push_back(mask);
  } else {
    parts.insert(parts.end(), chain->parts().begin(), chain->parts().end());
  }
}

template <class ChainNode>
Mask flat_chain(const std::vector<Mask>& masks) {
  std::vector<Mask> parts;
  for (const Mask& mask : masks) append_parts<ChainNode>(parts, mask);
  return parts.size() == 1 ? parts.front() : Mask(std::make_shared<const ChainNode>(std::move(parts)));
}

// Whether `mask` is `part`, or holds it already.
bool has_part(const Mask& mask, const Mask& part) {
  const auto is_part = [&](const Mask& one) { return one.node().is_same(part.node()); };
  const auto* chain = dynamic_cast<const Both*>(&mask.node());
  return chain == nullptr ? is_part(mask) : std::ranges::any_of(chain->parts(), is_part);
}

}  // namespace

Mask mask_detail::both(std::vector<Mask> masks) {
  std::erase_if(masks, [](const Mask& mask) { return mask.is_all(); });
  return masks.empty() ? all() : flat_chain<Both>(masks);
}

Mask mask_detail::either(const std::vector<Mask>& masks) { return masks.empty() ? none() : flat_chain<Either>(masks); }

Mask operator&(const Mask& a, const Mask& b) {
  if (has_part(b, a)) return b;
  return has_part(a, b) ? a : mask_detail::both({a, b});
}

Mask operator|(const Mask& a, const Mask& b) { return mask_detail::either({a, b}); }

Mask operator!(const Mask& a) {
  if (const auto* negation = dynamic_cast<const Negation*>(&a.node())) return negation->inner();
  return Mask(std::make_shared<const Negation>(a));
}

}  // namespace qkv
