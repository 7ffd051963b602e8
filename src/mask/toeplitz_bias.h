// A bias that depends only on the distance between key and query: a tile of it is one row, shifted.
#pragma once

#include "mask/bias_node.h"
#include "mask/node.h"

namespace qkv::bias_detail {

class ToeplitzNode : public TermNode {
 public:
  explicit ToeplitzNode(Align align) : align_(align) {}

  /// values[n] = the bias of head h where j - p = first + n.
  virtual void write_diagonals(std::int64_t h, std::int64_t first, std::span<double> values,
                               const MaskShape& shape) const = 0;

  /// Adds to `cells`, the elements of head h, their gradients from the summed ones of scores with j - p = first + n.
  virtual void add_diagonals(std::int64_t first, std::span<const double> sums, double* cells) const = 0;

  [[nodiscard]] double at(const Place& place, const MaskShape& shape) const final;
  void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const final;
  void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const final;
  void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const final;
  [[nodiscard]] GradientAxes gradient_axes() const final { return {.head = true}; }
  void add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                    const MaskShape& shape) const final;

 protected:
  [[nodiscard]] Align align() const { return align_; }

 private:
  [[nodiscard]] std::int64_t distance(std::int64_t i, std::int64_t j, const MaskShape& shape) const {
    return j - mask_detail::position(align_, i, shape);
  }

  Align align_;
};

}  // namespace qkv::bias_detail
