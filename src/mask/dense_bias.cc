#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>

#include "mask/array_text.h"
#include "mask/bias_node.h"
#include "mask/broadcast.h"

namespace qkv {
namespace {

using mask_detail::Broadcast;

// f32 holds every f16 and bf16 exactly.
DType storage_of(const TensorView& values) {
  if (!is_floating(values.dtype())) {
    throw InvalidArgument("dense_bias", "values", "dtype f64, f32, f16 or bf16", name_of(values.dtype()));
  }
  return values.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

template <class T>
class DenseBias final : public bias_detail::TermNode {
 public:
  explicit DenseBias(const TensorView& values)
      : given_(values.dtype()), values_(values, dtype_of_v<T>), layout_("dense_bias", "values", values.shape()) {}

  [[nodiscard]] double at(const Place& place, const MaskShape& /*shape*/) const override {
    return static_cast<double>(*address(place));
  }
  void add_row(const Place& first, std::span<double> row, const MaskShape& /*shape*/) const override {
    if (row.empty()) return;
    const T* source = address(first);
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] += static_cast<double>(source[static_cast<std::int64_t>(c) * layout_.column_stride()]);
    }
  }
  void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& /*shape*/) const override {
    for_each_row(tile, [&](const T* source, std::int64_t r) {
      double* row = rows + r * row_stride;
      const std::int64_t step = layout_.column_stride();
      for (std::int64_t c = 0; c < tile.j_end - tile.j_begin; ++c) row[c] += static_cast<double>(source[c * step]);
    });
  }
  void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& /*shape*/) const override {
    const std::int64_t keys = tile.j_end - tile.j_begin;
    for_each_row(tile, [&](const T* source, std::int64_t r) {
      float* row = rows + r * row_stride;
      if (layout_.column_stride() == 0) {
        std::fill_n(row, keys, static_cast<float>(*source));
      } else {
        std::transform(source, source + keys, row, [](T value) { return static_cast<float>(value); });
      }
    });
  }
  [[nodiscard]] bias_detail::FloatRows tile_rows(const Tile& tile) const override {
    if constexpr (std::is_same_v<T, float>) {
      if (layout_.column_stride() == 1) {
        return {.first = address({tile.b, tile.h, tile.i_begin, tile.j_begin}), .row_stride = layout_.row_stride()};
      }
    }
    return {};
  }
  void validate(const MaskShape& shape) const override { layout_.require_fits({shape.B, shape.H, shape.Tq, shape.Tk}); }
  [[nodiscard]] std::string to_string() const override {
    const bool is_written_out = mask_detail::is_written_out(values_.size());
    return "dense(" +
           (is_written_out ? mask_detail::array_text(values_) : mask_detail::summary_text(given_, values_.shape())) +
           ")";
  }

  [[nodiscard]] Shape gradient_shape(const MaskShape& /*shape*/) const override { return layout_.shape(); }
  [[nodiscard]] bias_detail::GradientAxes gradient_axes() const override {
    return {.batch = layout_.varies_by_batch(),
            .head = layout_.varies_by_head(),
            .query = layout_.row_stride() != 0,
            .key = layout_.column_stride() != 0};
  }
  [[nodiscard]] bias_detail::GradientWindow gradient_window(const Tile& tile,
                                                            const MaskShape& /*shape*/) const override {
    return {.offset = layout_.offset(tile.b, tile.h, tile.i_begin, tile.j_begin),
            .rows = layout_.row_stride() == 0 ? 1 : tile.i_end - tile.i_begin,
            .columns = layout_.column_stride() == 0 ? 1 : tile.j_end - tile.j_begin,
            .row_stride = layout_.row_stride()};
  }
  void add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                    const MaskShape& shape) const override {
    const bias_detail::GradientWindow window = gradient_window(tile, shape);
    const std::int64_t keys = tile.j_end - tile.j_begin;
    for (std::int64_t r = 0; r < tile.i_end - tile.i_begin; ++r, d_scores += row_stride) {
      double* row = cells + (window.rows == 1 ? 0 : r * window.columns);
      if (window.columns == 1) {
        *row += std::accumulate(d_scores, d_scores + keys, 0.0);
      } else {
        std::transform(row, row + keys, d_scores, row, std::plus());
      }
    }
  }

 private:
  template <class Body>
  void for_each_row(const Tile& tile, const Body& body) const {
    const T* source = address({tile.b, tile.h, tile.i_begin, tile.j_begin});
    for (std::int64_t r = 0; r < tile.i_end - tile.i_begin; ++r) body(source + r * layout_.row_stride(), r);
  }
  [[nodiscard]] const T* address(const Place& place) const {
    return values_.values<T>().data() + layout_.offset(place.b, place.h, place.i, place.j);
  }

  DType given_;  // before they were converted
  Tensor values_;
  Broadcast layout_;
};

}  // namespace

Bias dense_bias(const TensorView& values) {
  if (storage_of(values) == DType::f64) return Bias(std::make_shared<const DenseBias<double>>(values));
  return Bias(std::make_shared<const DenseBias<float>>(values));
}

}  // namespace qkv
