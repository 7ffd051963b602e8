#include "mask/batch_entry.h"

#include <fmt/format.h>

#include "mask/bias_node.h"
#include "mask/node.h"

namespace qkv {
namespace {

struct Entry {
  std::int64_t b = 0;
  std::int64_t B = 1;

  [[nodiscard]] MaskShape whole(const MaskShape& shape) const { return {B, shape.H, shape.Tq, shape.Tk}; }
  [[nodiscard]] Place whole(const Place& place) const { return {b, place.h, place.i, place.j}; }
  [[nodiscard]] Tile whole(const Tile& tile) const {
    return {b, tile.h, tile.i_begin, tile.i_end, tile.j_begin, tile.j_end};
  }
  void require_single(std::string_view argument, const MaskShape& shape) const {
    if (shape.B == 1) return;
    throw InvalidArgument("batch_entry", argument, "a shape with B = 1", "B = " + std::to_string(shape.B));
  }
};

class MaskEntry final : public mask_detail::Node {
 public:
  MaskEntry(Mask mask, Entry entry) : mask_(std::move(mask)), entry_(entry) {}

  [[nodiscard]] bool allows(const Place& place, const MaskShape& shape) const override {
    return mask_.allows(entry_.whole(place), entry_.whole(shape));
  }
  [[nodiscard]] TileClass classify(const Tile& tile, const MaskShape& shape) const override {
    return mask_.classify(entry_.whole(tile), entry_.whole(shape));
  }
  [[nodiscard]] std::uint64_t row_bits(const Place& first, int count, const MaskShape& shape) const override {
    return mask_.row_bits(entry_.whole(first), count, entry_.whole(shape));
  }
  [[nodiscard]] KeyRange hull(const Tile& tile, const MaskShape& shape) const override {
    return mask_.hull(entry_.whole(tile), entry_.whole(shape));
  }
  void validate(const MaskShape& shape) const override {
    entry_.require_single("mask", shape);
    mask_.node().validate_entry(entry_.b, entry_.whole(shape));
  }
  [[nodiscard]] bool varies_by_head() const override { return mask_.varies_by_head(); }
  [[nodiscard]] mask_detail::Binding binding() const override { return mask_.node().binding(); }
  [[nodiscard]] std::string to_string() const override { return mask_.to_string(); }

 private:
  Mask mask_;
  Entry entry_;
};

// For a single term.
class BiasEntry final : public bias_detail::TermNode {
 public:
  BiasEntry(Bias bias, Entry entry)
      : bias_(std::move(bias)), term_(*bias_detail::term_nodes(bias_).front()), entry_(entry) {}

  [[nodiscard]] double at(const Place& place, const MaskShape& shape) const override {
    return bias_.at(entry_.whole(place), entry_.whole(shape));
  }
  void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const override {
    bias_.add_row(entry_.whole(first), row, entry_.whole(shape));
  }
  void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const override {
    term_.add_tile(entry_.whole(tile), rows, row_stride, entry_.whole(shape));
  }
  void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const override {
    term_.write_tile(entry_.whole(tile), rows, row_stride, entry_.whole(shape));
  }
  [[nodiscard]] bias_detail::FloatRows tile_rows(const Tile& tile) const override {
    return term_.tile_rows(entry_.whole(tile));
  }
  void validate(const MaskShape& shape) const override {
    entry_.require_single("bias", shape);
    bias_.validate(entry_.whole(shape));
  }
  [[nodiscard]] std::string to_string() const override { return bias_.to_string(); }

  [[nodiscard]] Shape gradient_shape(const MaskShape& shape) const override {
    return term_.gradient_shape(entry_.whole(shape));
  }
  [[nodiscard]] bias_detail::GradientAxes gradient_axes() const override { return term_.gradient_axes(); }
  [[nodiscard]] bias_detail::GradientWindow gradient_window(const Tile& tile, const MaskShape& shape) const override {
    return term_.gradient_window(entry_.whole(tile), entry_.whole(shape));
  }
  void add_gradient(const Tile& tile, const double* d_scores, std::int64_t row_stride, double* cells,
                    const MaskShape& shape) const override {
    term_.add_gradient(entry_.whole(tile), d_scores, row_stride, cells, entry_.whole(shape));
  }

 private:
  Bias bias_;
  const bias_detail::TermNode& term_;
  Entry entry_;
};

void require_inside(std::int64_t b, std::int64_t B) {
  if (b >= 0 && b < B) return;
  throw InvalidArgument("batch_entry", "b", fmt::format("0 <= b < {}", B), std::to_string(b));
}

}  // namespace

Mask batch_entry(const Mask& mask, std::int64_t b, std::int64_t B) {
  require_inside(b, B);
  return mask.varies_by_batch() ? Mask(std::make_shared<const MaskEntry>(mask, Entry{b, B})) : mask;
}

Bias batch_entry(const Bias& bias, std::int64_t b, std::int64_t B) {
  require_inside(b, B);
  std::vector<Bias> terms = bias.terms();
  for (Bias& term : terms) term = Bias(std::make_shared<const BiasEntry>(term, Entry{b, B}));
  return sum(terms);
}

}  // namespace qkv
