#include <algorithm>
#include <array>

#include "mask/bias_node.h"
#include "mask/within.h"

namespace qkv {
namespace {

using bias_detail::kBlock;
using mask_detail::whole_of;

// For a single term.
class WindowedBias final : public bias_detail::TermNode {
 public:
  WindowedBias(Bias bias, std::vector<MatrixWindow> windows)
      : bias_(std::move(bias)), term_(*bias_detail::term_nodes(bias_).front()), windows_(std::move(windows)) {}

  [[nodiscard]] double at(const Place& place, const MaskShape& shape) const override {
    const MatrixWindow& window = of(place.b);
    return term_.at(whole_of(window, place), whole_of(window, shape));
  }

  void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const override {
    const MatrixWindow& window = of(first.b);
    const MaskShape whole = whole_of(window, shape);
    if (window.step_j == 1) return term_.add_row(whole_of(window, first), row, whole);
    Place place = first;
    for (double& value : row) {
      value += term_.at(whole_of(window, place), whole);
      ++place.j;
    }
  }

  void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const override {
    const MatrixWindow& window = of(tile.b);
    if (!is_contiguous(window)) return TermNode::add_tile(tile, rows, row_stride, shape);
    term_.add_tile(whole_of(window, tile), rows, row_stride, whole_of(window, shape));
  }

  void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const override {
    const MatrixWindow& window = of(tile.b);
    const MaskShape whole = whole_of(window, shape);
    if (is_contiguous(window)) return term_.write_tile(whole_of(window, tile), rows, row_stride, whole);
    for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, rows += row_stride) {
      each_stretch(tile, i, [&](const Tile& wide, std::int64_t c, std::int64_t keys) {
        std::array<float, kBlock> row{};
        term_.write_tile(wide, row.data(), kBlock, whole);
        for (std::int64_t n = 0; n < keys; ++n) rows[c + n] = row[static_cast<std::size_t>(n * window.step_j)];
      });
    }
  }

  [[nodiscard]] bias_detail::FloatRows tile_rows(const Tile& tile) const override {
    const MatrixWindow& window = of(tile.b);
    if (window.step_j != 1) return {};
    Tile first = tile;
    first.i_end = tile.i_begin + 1;
    bias_detail::FloatRows rows = term_.tile_rows(whole_of(window, first));
    rows.row_stride *= window.step_i;
    return rows;
  }

  void validate(const MaskShape& shape) const override {
    if (windows_.size() == 1) {
      mask_detail::require_window_of("within", "window", windows_.front(), shape.Tq, shape.Tk);
    }
    for (const MatrixWindow& window : windows_) bias_.validate(whole_of(window, shape));
  }
  [[nodiscard]] std::string to_string() const override { return bias_.to_string(); }

  [[nodiscard]] Shape gradient_shape(const MaskShape& shape) const override {
    return term_.gradient_shape(whole_of(windows_.front(), shape));  // the same of all, or it would not fit
  }
  [[nodiscard]] bias_detail::GradientAxes gradient_axes() const override { return term_.gradient_axes(); }

  [[nodiscard]] bias_detail::GradientWindow gradient_window(const Tile& tile, const MaskShape& shape) const override {
    const MatrixWindow& window = of(tile.b);
    Tile first = tile;
    first.i_end = tile.i_begin + 1;
    first.j_end = tile.j_begin + 1;
    bias_detail::GradientWindow cells = term_.gradient_window(whole_of(window, first), whole_of(window, shape));
    const bias_detail::GradientAxes axes = term_.gradient_axes();
    if (axes.query) {
      cells.rows = tile.i_end - tile.i_begin;
      cells.row_stride *= window.step_i;
    }
    if (axes.key) {
      cells.columns = tile.j_end - tile.j_begin;
      cells.column_stride *= window.step_j;
    }
    return cells;
  }

  void add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                    const MaskShape& shape) const override {
    const bias_detail::GradientAxes axes = term_.gradient_axes();
    const MatrixWindow& window = of(tile.b);
    const MaskShape whole = whole_of(window, shape);
    if (is_contiguous(window)) return term_.add_gradient(whole_of(window, tile), d_scores, row_stride, cells, whole);
    for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, d_scores += row_stride) {
      if (axes.key) {  // a cell for each key, which a wider stretch of keys would not share
        for (std::int64_t c = 0; c < tile.j_end - tile.j_begin; ++c) cells[c] += d_scores[c];
      } else {
        each_stretch(tile, i, [&](const Tile& wide, std::int64_t c, std::int64_t keys) {
          std::array<double, kBlock> row{};
          for (std::int64_t n = 0; n < keys; ++n) row[static_cast<std::size_t>(n * window.step_j)] = d_scores[c + n];
          term_.add_gradient(wide, row.data(), kBlock, cells, whole);
        });
      }
      if (axes.query) cells += axes.key ? tile.j_end - tile.j_begin : 1;
    }
  }

 private:
  [[nodiscard]] const MatrixWindow& of(std::int64_t b) const { return mask_detail::window_of(windows_, b); }
  static bool is_contiguous(const MatrixWindow& window) { return window.step_i == 1 && window.step_j == 1; }

  // Calls body(stretch of the matrix, the tile's key at which it starts, how many of the tile's keys it holds) for
  // stretches of query i that cover the tile's keys, each of at most kBlock keys of the matrix.
  template <class Body>
  void each_stretch(const Tile& tile, std::int64_t i, const Body& body) const {
    const MatrixWindow& window = of(tile.b);
    const std::int64_t most = mask_detail::keys_among(window, kBlock);
    for (std::int64_t j = tile.j_begin; j < tile.j_end; j += most) {
      const std::int64_t end = std::min(j + most, tile.j_end);
      const Tile part = {.b = tile.b, .h = tile.h, .i_begin = i, .i_end = i + 1, .j_begin = j, .j_end = end};
      body(whole_of(window, part), j - tile.j_begin, end - j);
    }
  }

  Bias bias_;
  const bias_detail::TermNode& term_;
  std::vector<MatrixWindow> windows_;
};

}  // namespace

Bias mask_detail::within_each(const Bias& bias, const std::vector<MatrixWindow>& windows) {
  for (const MatrixWindow& window : windows) require_window("within", "window", window);
  std::vector<Bias> terms = bias.terms();
  for (Bias& term : terms) term = Bias(std::make_shared<const WindowedBias>(term, windows));
  return sum(terms);
}

Bias within(const Bias& bias, const MatrixWindow& window) { return mask_detail::within_each(bias, {window}); }

}  // namespace qkv
