// Masks: which query sees which key. They combine with &, | and !.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/random.h"
#include "qkv/tensor.h"

namespace qkv {

/// The extents that a mask is asked about. H counts query heads.
struct MaskShape {
  std::int64_t B = 1;
  std::int64_t H = 1;
  std::int64_t Tq = 0;
  std::int64_t Tk = 0;
};

/// The corner of the Tq x Tk matrix at which the diagonal ends. The position of query i is
/// p = i + (Tk - Tq) for bottom_right and p = i for top_left; masks compare p with the key's index j.
enum class Align : std::uint8_t { bottom_right, top_left };

/// The class of a tile: no pair visible, all, or some.
enum class TileClass : std::uint8_t { skip, full, partial };

/// Half-open rectangle of queries [i_begin, i_end) and keys [j_begin, j_end) of one head of one batch entry.
struct Tile {
  std::int64_t b = 0;
  std::int64_t h = 0;
  std::int64_t i_begin = 0;
  std::int64_t i_end = 0;
  std::int64_t j_begin = 0;
  std::int64_t j_end = 0;
};

/// Half-open range of keys; empty where end <= begin.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A window of a larger Tq x Tk matrix: query n of q and key m of k are query first_i + n * step_i and key
/// first_j + m * step_j of the matrix. What looks at places (masks, biases, dropout) looks at those of the matrix.
/// docs/decisions/0017-windows.md says why.
struct MatrixWindow {
  std::int64_t Tq = 0;  // of the whole matrix
  std::int64_t Tk = 0;
  std::int64_t first_i = 0;  // >= 0
  std::int64_t step_i = 1;   // >= 1
  std::int64_t first_j = 0;
  std::int64_t step_j = 1;

  [[nodiscard]] constexpr std::int64_t query(std::int64_t n) const noexcept { return first_i + n * step_i; }
  [[nodiscard]] constexpr std::int64_t key(std::int64_t m) const noexcept { return first_j + m * step_j; }
  [[nodiscard]] bool operator==(const MatrixWindow&) const = default;
};

namespace mask_detail {
class Node;
}

/// An immutable value, cheap to copy. Default: everything is visible.
class Mask {
 public:
  Mask();
  explicit Mask(std::shared_ptr<const mask_detail::Node> node);

  /// True if query `place.i` sees key `place.j`. `place` must lie within the shape, and the mask must
  /// fit the shape (see validate). The same holds for classify, row_bits and hull.
  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const;

  /// Uses interval arithmetic on the primitives and does not evaluate each pair: skip and full are certain, partial is
  /// conservative (the tile may still be empty or full).
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const;

  /// A row of a tile as bits: bit c is set if query `first.i` sees key `first.j` + c, for 0 <= c < count <= 64.
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const;

  /// A range of the tile's keys that contains all keys that its queries see; may be larger than needed.
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const;

  /// Throws InvalidArgument if the mask does not fit this shape (lengths per batch entry, dense extents, …).
  void validate(const MaskShape& shape) const;

  [[nodiscard]] bool is_all() const;
  [[nodiscard]] bool varies_by_batch() const;
  [[nodiscard]] bool varies_by_head() const;

  /// The text form; parse_mask(to_string()) gives the same mask back, except for predicates, for dense masks of more
  /// than 64 elements, which print as a summary, and for within(), which prints as the mask of the whole matrix.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] const mask_detail::Node& node() const { return *node_; }

 private:
  std::shared_ptr<const mask_detail::Node> node_;
};

[[nodiscard]] Mask operator&(const Mask& a, const Mask& b);
[[nodiscard]] Mask operator|(const Mask& a, const Mask& b);
[[nodiscard]] Mask operator!(const Mask& a);

/// What a mask of a whole matrix shows of a window: a mask for shapes with as many queries and keys as the window. It
/// fits those over which `mask` fits [B, H, window.Tq, window.Tk] and whose last query and key lie inside. Makes the
/// plan of a window: TilePlan(within(mask, window), {B, H, queries, keys}).
[[nodiscard]] Mask within(const Mask& mask, const MatrixWindow& window);

/// Everything / nothing is visible.
[[nodiscard]] Mask all();
[[nodiscard]] Mask none();

/// j <= p + offset.
[[nodiscard]] Mask causal(Align align = Align::bottom_right, std::int64_t offset = 0);
/// j <= p + offsets[b]: one offset for each batch entry.
[[nodiscard]] Mask causal_offsets(std::vector<std::int64_t> offsets, Align align = Align::bottom_right);

/// p - width < j < p + width: with causal() a query sees exactly `width` keys, itself included. width >= 1.
[[nodiscard]] Mask window(std::int64_t width, Align align = Align::bottom_right);
/// p - left <= j <= p + right, FlashAttention's `window_size=(left, right)`; nullopt is unbounded.
[[nodiscard]] Mask window(std::optional<std::int64_t> left, std::optional<std::int64_t> right,
                          Align align = Align::bottom_right);

/// j < length: every query sees the first `length` keys (prefix-LM: causal() | prefix(n)).
[[nodiscard]] Mask prefix(std::int64_t length);

/// Documents packed end to end: query and key must lie in the same one. `lengths` sum to Tk; query i lies at p.
[[nodiscard]] Mask documents(std::vector<std::int64_t> lengths, Align align = Align::bottom_right);

/// j < lengths[b]: padding at the end of each batch entry's keys. One length, or one for each batch entry.
[[nodiscard]] Mask key_lengths(std::vector<std::int64_t> lengths);

/// (p - j) mod stride == 0: every stride-th key, counted from the query (Child et al. 2019, section 4.3).
[[nodiscard]] Mask strided(std::int64_t stride, Align align = Align::bottom_right);

/// |p - j| < width * dilation and (p - j) mod dilation == 0: a window with gaps (Beltagy et al. 2020, section 3.1).
[[nodiscard]] Mask dilated(std::int64_t width, std::int64_t dilation, Align align = Align::bottom_right);

/// 0 <= p < count or j < count: the first `count` tokens see all and are seen by all.
[[nodiscard]] Mask global_tokens(std::int64_t count, Align align = Align::bottom_right);
/// The same for tokens at the given positions.
[[nodiscard]] Mask global_tokens_at(std::vector<std::int64_t> positions, Align align = Align::bottom_right);

/// Block (i / block, j / block) of `kept` decides. `kept` is b8 [ceil(Tq / block), ceil(Tk / block)], or with leading
/// [H] or [B, H] axes that broadcast. The elements are copied.
[[nodiscard]] Mask block_sparse(std::int64_t block, const TensorView& kept);

/// Any boolean (or u8) tensor that broadcasts to [B, H, Tq, Tk]; nonzero is visible. The elements are copied.
[[nodiscard]] Mask dense(const TensorView& visible);

/// A rule of your own. It must be pure; it is evaluated once for each pair when a plan is made.
[[nodiscard]] Mask predicate(std::string name, std::function<bool(const Place&, const MaskShape&)> rule);

/// Reads the text form, e.g. "causal & window(512) | global(4)"; `!` binds before `&` before `|`. docs/masks.md has the
/// grammar. Throws MaskSyntaxError, whose message points at the column.
[[nodiscard]] Mask parse_mask(std::string_view text);

/// One word of the text form: how it is written, and what it means in one line.
struct Word {
  std::string_view word;
  std::string_view form;
  std::string_view meaning;
};

/// The words that parse_mask knows.
[[nodiscard]] std::span<const Word> mask_words();

/// A mask expression that shows what `word`, one of mask_words(), does on a shape, e.g. "window(128)" for 1024 keys.
[[nodiscard]] std::string mask_sample(std::string_view word, const MaskShape& shape);

/// The text could not be read: what() shows the text, a caret under the column, and what was expected there.
class MaskSyntaxError : public InvalidArgument {
 public:
  MaskSyntaxError(std::string_view function, std::string_view text, std::size_t column, std::string_view expected,
                  std::string_view got);
  /// 1-based, in characters (code points).
  [[nodiscard]] std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

}  // namespace qkv
