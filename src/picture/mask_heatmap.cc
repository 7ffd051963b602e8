#include "qkv/picture/mask_heatmap.h"

#include <fmt/format.h>

#include <algorithm>

namespace qkv {
namespace {

// A run of whole tiles of one row or column of cells.
struct Run {
  std::int64_t begin;
  std::int64_t end;
};

class MaskDrawing {
 public:
  MaskDrawing(const TilePlan& plan, std::int64_t b, std::int64_t h) : plan_(plan), b_(b), h_(h) {}

  [[nodiscard]] Heatmap pairs() {
    begin(plan_.shape().Tq, plan_.shape().Tk);
    for (std::int64_t i = 0; i < plan_.shape().Tq; ++i) {
      for (std::int64_t j = 0; j < plan_.shape().Tk; ++j) put(i, j, plan_.visible(b_, h_, i, j) ? 1 : 0);
    }
    picture_.value_name = "visible";
    picture_.yes_or_no = true;
    picture_.decimals = 0;
    return std::move(picture_);
  }

  [[nodiscard]] Heatmap shares(std::int64_t most_cells) {
    const std::int64_t rows = std::min(plan_.rows(), most_cells);
    const std::int64_t columns = std::min(plan_.columns(), most_cells);
    begin(rows, columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Run down = run(r, rows, plan_.rows());
      for (std::int64_t c = 0; c < columns; ++c) put(r, c, share(down, run(c, columns, plan_.columns())));
      picture_.row_labels.push_back(std::to_string(down.begin * plan_.tile_size().queries));
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      picture_.column_labels.push_back(std::to_string(run(c, columns, plan_.columns()).begin * plan_.tile_size().keys));
    }
    picture_.value_name = "share of pairs kept";
    return std::move(picture_);
  }

 private:
  void begin(std::int64_t rows, std::int64_t columns) {
    picture_.values = Tensor(DType::f64, {rows, columns});
    picture_.hidden = Tensor(DType::b8, {rows, columns});
    picture_.row_axis = "query";
    picture_.column_axis = "key";
    picture_.low = 0;
    picture_.high = 1;
  }

  void put(std::int64_t row, std::int64_t column, double value) {
    picture_.values.set({row, column}, value);
    picture_.hidden.set({row, column}, value == 0 ? 1 : 0);
  }

  // Cell `index` of `cells` covers these of the `tiles`; every tile lies in one cell.
  [[nodiscard]] static Run run(std::int64_t index, std::int64_t cells, std::int64_t tiles) {
    return {index * tiles / cells, (index + 1) * tiles / cells};
  }

  [[nodiscard]] double share(const Run& down, const Run& across) const {
    std::int64_t kept = 0;
    for (std::int64_t row = down.begin; row < down.end; ++row) {
      const KeyRange seen = plan_.columns_of(b_, h_, row);
      for (std::int64_t column = std::max(across.begin, seen.begin); column < std::min(across.end, seen.end);
           ++column) {
        kept += plan_.pairs_kept(b_, h_, row, column);
      }
    }
    const TileSize size = plan_.tile_size();
    const std::int64_t queries = std::min(down.end * size.queries, plan_.shape().Tq) - down.begin * size.queries;
    const std::int64_t keys = std::min(across.end * size.keys, plan_.shape().Tk) - across.begin * size.keys;
    return static_cast<double>(kept) / (static_cast<double>(queries) * static_cast<double>(keys));
  }

  const TilePlan& plan_;
  std::int64_t b_;
  std::int64_t h_;
  Heatmap picture_;
};

}  // namespace

Heatmap mask_heatmap(const TilePlan& plan, std::int64_t b, std::int64_t h, std::int64_t most_cells) {
  const MaskShape& shape = plan.shape();
  if (most_cells < 1) throw InvalidArgument("mask_heatmap", "most_cells", "1 or more", std::to_string(most_cells));
  if (plan.rows() == 0 || plan.columns() == 0) {
    throw InvalidArgument("mask_heatmap", "plan", "one query and one key or more",
                          fmt::format("{} queries and {} keys", shape.Tq, shape.Tk));
  }
  MaskDrawing drawing(plan, b, h);
  return std::max(shape.Tq, shape.Tk) <= most_cells ? drawing.pairs() : drawing.shares(most_cells);
}

}  // namespace qkv
