// The nodes of masks. Each kind of mask is one small file with its node and the public function that makes it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "qkv/mask.h"

namespace qkv::mask_detail {

/// Precedence in the text form: an operand that binds more loosely than its operator needs parentheses.
enum class Binding : std::uint8_t { either, both, negation, word };

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  [[nodiscard]] virtual bool allows(const Place& place, const MaskShape& shape) const = 0;
  /// The class of a tile with at least one pair. skip and full must be certain.
  [[nodiscard]] virtual TileClass classify(const Tile& tile, const MaskShape& shape) const = 0;
  /// Mask::row_bits with 1 <= count <= 64. The default asks allows() for each key.
  [[nodiscard]] virtual std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const;
  /// Mask::hull of a tile with at least one pair, before clipping to the tile. The default is all of the tile's keys.
  [[nodiscard]] virtual KeyRange hull(const Tile& tile, const MaskShape& shape) const;
  virtual void validate(const MaskShape& shape) const;
  /// Validates for entry b alone, whose Tq and Tk are the shape's; other entries may have other lengths.
  virtual void validate_entry(std::int64_t b, const MaskShape& shape) const;
  [[nodiscard]] virtual bool varies_by_batch() const { return false; }
  [[nodiscard]] virtual bool varies_by_head() const { return false; }
  /// Certainly shows the same pairs: & need not say it twice.
  [[nodiscard]] virtual bool is_same(const Node& other) const { return this == &other; }
  [[nodiscard]] virtual Binding binding() const { return Binding::word; }
  [[nodiscard]] virtual std::string to_string() const = 0;
};

/// A mask under which each query sees one range of keys. Neither end may decrease with i, so that the first and the
/// last query of a tile bound all between them.
class IntervalNode : public Node {
 public:
  /// May reach beyond the shape's keys, and may be empty.
  [[nodiscard]] virtual KeyRange keys_of(std::int64_t b, std::int64_t i, const MaskShape& shape) const = 0;

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const final;
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const final;
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const final;
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const final;
};

/// Visible under all of the masks (all() is dropped) / under at least one of them.
[[nodiscard]] Mask both(std::vector<Mask> masks);
[[nodiscard]] Mask either(const std::vector<Mask>& masks);

/// The lowest `count` bits, 0 <= count <= 64.
[[nodiscard]] constexpr std::uint64_t low_bits(std::int64_t count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Bits of the keys of `range` among the `count` keys from `first` on.
[[nodiscard]] std::uint64_t range_bits(const KeyRange& range, std::int64_t first, int count) noexcept;

[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

/// The position of query i among the keys.
[[nodiscard]] constexpr std::int64_t position(Align align, std::int64_t i, const MaskShape& shape) noexcept {
  return align == Align::bottom_right ? i + (shape.Tk - shape.Tq) : i;
}

/// "causal" with {"top_left", "offset=3"} is "causal(top_left, offset=3)"; without arguments there are no parentheses.
[[nodiscard]] std::string call_text(std::string_view word, const std::vector<std::string>& arguments);
/// Appends "top_left" where that is not the default.
void append_align(std::vector<std::string>& arguments, Align align);
/// "2, 3"
[[nodiscard]] std::string list_text(const std::vector<std::int64_t>& values);

/// Throws InvalidArgument unless value >= minimum.
void require_at_least(std::string_view function, std::string_view argument, std::int64_t minimum, std::int64_t value);
/// The same for each of the values.
void require_all_at_least(std::string_view function, std::string_view argument, std::int64_t minimum,
                          const std::vector<std::int64_t>& values);

}  // namespace qkv::mask_detail
