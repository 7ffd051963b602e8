// Biases: values added to the scores before the mask. Sums of biases are biases.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/mask.h"
#include "qkv/tensor.h"

namespace qkv {

namespace bias_detail {
class Node;
}

/// An immutable value, cheap to copy. Default: zero everywhere.
class Bias {
 public:
  Bias();
  explicit Bias(std::shared_ptr<const bias_detail::Node> node);

  /// The value added to the score at `place`. -inf hides the pair, as a mask would.
  [[nodiscard]] double at(const Place& place, const MaskShape& shape) const;

  /// Adds the biases of keys `first.j`, `first.j` + 1, … of query `first.i` to `row`.
  void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const;

  /// Writes the biases of a tile in f32, each rounded once: that of (i, j) goes to
  /// rows[(i - tile.i_begin) * row_stride + j - tile.j_begin]. Allocates nothing.
  void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const;

  /// Throws InvalidArgument if the bias does not fit this shape.
  void validate(const MaskShape& shape) const;

  [[nodiscard]] bool is_zero() const;
  /// The summands of this bias, left to right; none for zero.
  [[nodiscard]] std::vector<Bias> terms() const;
  /// The text form; parse_bias(to_string()) gives the same bias back, except for arrays of more than 64 elements, which
  /// print as a summary.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] const bias_detail::Node& node() const { return *node_; }

 private:
  std::shared_ptr<const bias_detail::Node> node_;
};

[[nodiscard]] Bias operator+(const Bias& a, const Bias& b);
/// All terms added; zero where there are none.
[[nodiscard]] Bias sum(const std::vector<Bias>& terms);

/// The slopes of Press et al. 2022 for H heads: 2^(-8/n), 2^(-16/n), … for n heads a power of two, otherwise those of
/// the next lower power of two followed by every other slope of the next higher one.
[[nodiscard]] std::vector<double> alibi_slopes(std::int64_t heads);

/// -slopes[h] * |p - j|. Without slopes: alibi_slopes(H) of the shape it is used on.
[[nodiscard]] Bias alibi(Align align = Align::bottom_right);
[[nodiscard]] Bias alibi(std::vector<double> slopes, Align align = Align::bottom_right);

struct T5Buckets {
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;
  bool bidirectional = true;
};

/// The bucket of a relative position j - p (Raffel et al. 2020, as the reference code of T5 counts it).
[[nodiscard]] std::int64_t t5_bucket(std::int64_t relative_position, const T5Buckets& buckets);

/// table[bucket(j - p), h]; `table` is [buckets, H] of any floating dtype. The elements are copied.
[[nodiscard]] Bias t5_bias(const TensorView& table, const T5Buckets& buckets = {}, Align align = Align::bottom_right);

/// What a bias of a whole matrix adds in a window: the counterpart of within(mask, window). Its gradients have the
/// shape of the whole bias, and zeros for elements that the window does not use.
[[nodiscard]] Bias within(const Bias& bias, const MatrixWindow& window);

/// Any floating tensor that broadcasts to [B, H, Tq, Tk]. The elements are copied.
[[nodiscard]] Bias dense_bias(const TensorView& values);

/// Reads the text form: terms joined by `+`, e.g. "alibi(0.5, 0.25) + dense([[0, -1], [1, 0]])". docs/masks.md has the
/// grammar. Throws MaskSyntaxError, whose message points at the column.
[[nodiscard]] Bias parse_bias(std::string_view text);

/// The words that parse_bias knows.
[[nodiscard]] std::span<const Word> bias_words();

}  // namespace qkv
