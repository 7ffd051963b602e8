// The nodes of biases.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "qkv/bias.h"

namespace qkv::bias_detail {

/// Nodes get tiles of at most kBlock queries and keys, none of them empty.
inline constexpr std::int64_t kBlock = 64;

/// A bias as a call on q of `dtype` takes it. Where q is not f64 a kernel may hold it in f32, so what lies beyond its
/// range is infinite for every kernel: below the lowest float it forbids.
[[nodiscard]] double as_taken(double bias, DType dtype);

/// Rows of floats, row_stride apart; none where `first` is null.
struct FloatRows {
  const float* first = nullptr;
  std::int64_t row_stride = 0;
};

class TermNode;

/// What kind of node it is, each says itself: a bias may come from another library with a copy of ours, whose types
/// dynamic_cast takes for others.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  [[nodiscard]] virtual double at(const Place& place, const MaskShape& shape) const = 0;
  /// Bias::add_row. The default asks at() for each key.
  virtual void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const;
  /// Adds the biases of a tile to rows that lie row_stride apart. The default asks add_row() for each row.
  virtual void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const;
  /// Bias::write_tile. The default rounds what add_tile() adds to zeros.
  virtual void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const;
  /// What write_tile() would write, where it lies in memory as it is. The default: nowhere.
  [[nodiscard]] virtual FloatRows tile_rows(const Tile& tile) const;
  virtual void validate(const MaskShape& shape) const;
  [[nodiscard]] virtual std::string to_string() const = 0;
  [[nodiscard]] virtual bool is_zero() const { return false; }
  [[nodiscard]] virtual const std::vector<Bias>* terms_of_sum() const { return nullptr; }  // of a sum
  [[nodiscard]] virtual const TermNode* as_term() const { return nullptr; }                // of all but zero and sums
};

/// The coordinates of a pair that select the element of a term that is added to its score.
struct GradientAxes {
  bool batch = false;
  bool head = false;
  bool query = false;
  bool key = false;

  [[nodiscard]] bool operator==(const GradientAxes&) const = default;
};

/// The elements of a term that a tile uses: a window of rows x columns in the tensor of all elements.
struct GradientWindow {
  std::int64_t offset = 0;  // of the first element in the dense tensor
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  [[nodiscard]] std::int64_t cells() const { return rows * columns; }
  [[nodiscard]] bool operator==(const GradientWindow&) const = default;
};

/// A bias with elements that have gradients: every bias but zero and sums.
class TermNode : public Node {
 public:
  [[nodiscard]] const TermNode* as_term() const override { return this; }
  /// The shape of the elements.
  [[nodiscard]] virtual Shape gradient_shape(const MaskShape& shape) const = 0;
  [[nodiscard]] virtual GradientAxes gradient_axes() const = 0;
  /// The same for all tiles that agree in the coordinates of gradient_axes().
  [[nodiscard]] virtual GradientWindow gradient_window(const Tile& tile, const MaskShape& shape) const = 0;
  /// Adds the gradients of the elements, from the gradients of a tile's scores in rows row_stride apart, to `cells`,
  /// the dense window of the tile.
  virtual void add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                            const MaskShape& shape) const = 0;
};

/// The nodes of bias.terms(), which live as long as the bias.
[[nodiscard]] std::vector<const TermNode*> term_nodes(const Bias& bias);

}  // namespace qkv::bias_detail
