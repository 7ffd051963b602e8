#include "explain/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/watched.h"
#include "explain/numbers.h"

namespace qkv::explain_detail {
namespace {

constexpr int kDecimals = 3;

std::vector<std::string> counted(std::int64_t count) {
  std::vector<std::string> labels;
  labels.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("{}", i));
  return labels;
}

std::int64_t blocks_of(std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; }

struct Mean {
  double sum = 0;
  double count = 0;
  [[nodiscard]] double value() const { return count > 0 ? sum / count : -std::numeric_limits<double>::infinity(); }
};

// The rows and columns that are drawn as one cell.
struct Block {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

// Hidden places (-inf) do not take part in a block's mean; a block of nothing else stays hidden.
Tensor block_means(const TensorView& values, const Block& block) {
  const std::int64_t rows = blocks_of(values.dim(0), block.rows);
  const std::int64_t columns = blocks_of(values.dim(1), block.columns);
  std::vector<Mean> means(static_cast<std::size_t>(rows * columns));
  std::vector<double> row(static_cast<std::size_t>(values.dim(1)));
  for (std::int64_t i = 0; i < values.dim(0); ++i) {
    core::look();
    values.load_row(std::vector<std::int64_t>{i}, row);
    for (std::int64_t j = 0; j < values.dim(1); ++j) {
      const double value = row[static_cast<std::size_t>(j)];
      if (!std::isfinite(value)) continue;
      Mean& mean = means[static_cast<std::size_t>((i / block.rows) * columns + j / block.columns)];
      mean.sum += value;
      ++mean.count;
    }
  }
  std::vector<double> result;
  result.reserve(means.size());
  for (const Mean& mean : means) result.push_back(mean.value());
  return {result, {rows, columns}};
}

// `cells` are values, or their means over blocks.
NamedHeatmap heatmap_of_cells(std::string id, std::string title, Tensor cells, const Block& block,
                              const Labels& labels) {
  NamedHeatmap named{.id = std::move(id), .heatmap = {}, .whole = {}};
  Heatmap& heatmap = named.heatmap;
  heatmap.title = std::move(title);
  heatmap.values = std::move(cells);
  if (block.rows > 1 || block.columns > 1) {
    heatmap.title += fmt::format(" (each cell the mean of {} × {})", block.rows, block.columns);
  }
  heatmap.row_labels = every_label(labels.rows, block.rows);
  heatmap.column_labels = every_label(labels.columns, block.columns);
  heatmap.decimals = kDecimals;
  return named;
}

NamedHeatmap heatmap_of(std::string id, std::string title, const TensorView& values, const Labels& labels) {
  const Block block{.rows = blocks_of(values.dim(0), kPictureSide), .columns = blocks_of(values.dim(1), kPictureSide)};
  const bool is_drawn_whole = block.rows == 1 && block.columns == 1;
  Tensor whole(values, DType::f64);
  NamedHeatmap named = heatmap_of_cells(std::move(id), std::move(title),
                                        is_drawn_whole ? whole : block_means(values, block), block, labels);
  if (!is_drawn_whole) named.whole = std::move(whole);
  return named;
}

NamedHeatmap as_matrix(NamedHeatmap named) {
  named.heatmap.row_axis = "query";
  named.heatmap.column_axis = "key";
  return named;
}

// A weight of 0 and a hidden pair look alike as numbers; the masked scores tell them apart.
Tensor with_hidden(const Tensor& values, const Tensor& masked) {
  Tensor result = values;
  const std::span<const double> scores = masked.values<double>();
  const std::span<double> marked = result.values<double>();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isinf(scores[i]) && scores[i] < 0) marked[i] = scores[i];
  }
  return result;
}

// Marks are drawn, not kept as numbers: a hidden weight is 0.
void move_marks(Heatmap& heatmap) {
  heatmap.hidden = Tensor(DType::b8, heatmap.values.shape());
  const std::span<double> values = heatmap.values.values<double>();
  const std::span<bool> hidden = heatmap.hidden.values<bool>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    hidden[i] = std::isinf(values[i]);
    if (hidden[i]) values[i] = 0;
  }
}

}  // namespace

std::vector<std::string> every_label(const std::vector<std::string>& labels, std::int64_t block) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(block)) {
    const std::size_t last = std::min(i + static_cast<std::size_t>(block), labels.size()) - 1;
    const bool is_number = labels[i] == fmt::format("{}", i);
    if (i == last) {
      kept.push_back(labels[i]);
    } else {
      kept.push_back(is_number ? fmt::format("{}–{}", i, last) : fmt::format("{} {}…", i, labels[i]));
    }
  }
  return kept;
}

NamedHeatmap matrix_picture(std::string id, std::string title, const TensorView& values, const Labels& labels) {
  return as_matrix(heatmap_of(std::move(id), std::move(title), values, labels));
}

NamedHeatmap means_picture(std::string id, std::string title, const TensorView& means,
                           const std::vector<std::string>& tokens, std::int64_t block) {
  return as_matrix(heatmap_of_cells(std::move(id), std::move(title), Tensor(means, DType::f64),
                                    {.rows = block, .columns = block}, {tokens, tokens}));
}

NamedHeatmap vectors(std::string id, std::string title, const TensorView& values,
                     const std::vector<std::string>& labels) {
  const std::vector<std::string> dimensions = counted(values.dim(1));
  NamedHeatmap named = heatmap_of(std::move(id), std::move(title), values, {labels, dimensions});
  named.heatmap.row_axis = "token";
  named.heatmap.column_axis = "dimension";
  named.heatmap.value_name = "value";
  named.heatmap.colours = ColourMap::diverging;
  return named;
}

NamedHeatmap parameters(std::string id, std::string title, const TensorView& values, std::string_view row_axis) {
  const std::vector<std::string> rows = counted(values.dim(0));
  NamedHeatmap named = vectors(std::move(id), std::move(title), values, rows);
  named.heatmap.row_axis = row_axis;
  named.heatmap.value_name = "parameter";
  return named;
}

std::vector<std::string> packed_labels(std::int64_t heads, std::int64_t width) {
  std::vector<std::string> labels;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t d = 0; d < width; ++d) labels.push_back(fmt::format("h{}.{}", h, d));
  }
  return labels;
}

std::vector<NamedHeatmap> head_vectors(std::string_view id, std::string_view title, const TensorView& values,
                                       const std::vector<std::string>& labels) {
  std::vector<NamedHeatmap> maps;
  maps.reserve(static_cast<std::size_t>(values.dim(1)));
  for (std::int64_t h = 0; h < values.dim(1); ++h) {
    maps.push_back(
        vectors(fmt::format("{}-head{}", id, h), fmt::format("{}, head {}", title, h), matrix_of(values, h), labels));
  }
  return maps;
}

std::vector<NamedHeatmap> head_scores(std::string_view id, std::string_view title, const Run& run,
                                      const TensorView& values, Scores kind, const TensorView& masked) {
  std::vector<NamedHeatmap> maps;
  for (std::int64_t h = 0; h < values.dim(1); ++h) {
    Tensor matrix = matrix_of(values, h);
    if (masked.data() != nullptr) matrix = with_hidden(matrix, matrix_of(masked, h));
    NamedHeatmap named = matrix_picture(fmt::format("{}-head{}", id, h), fmt::format("{}, head {}", title, h), matrix,
                                        {run.queries.tokens, run.keys.tokens});
    named.heatmap.value_name = kind == Scores::weights ? "weight" : "score";
    named.heatmap.colours = kind == Scores::weights ? ColourMap::sequential : ColourMap::diverging;
    if (kind == Scores::weights) {
      named.heatmap.low = 0.0;
      named.heatmap.high = 1.0;
      move_marks(named.heatmap);
    }
    maps.push_back(std::move(named));
  }
  return maps;
}

}  // namespace qkv::explain_detail
