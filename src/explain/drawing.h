// Heatmaps as the sections want them: one of each head, with the tokens as labels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/run.h"
#include "qkv/explain.h"

namespace qkv::explain_detail {

/// A picture's side; of larger matrices each side that is longer is drawn as means over blocks, and they say so.
inline constexpr std::int64_t kPictureSide = 128;

/// Rows are `labels`, columns the dimensions 0, 1, …; signed colours.
[[nodiscard]] NamedHeatmap vectors(std::string id, std::string title, const TensorView& values,
                                   const std::vector<std::string>& labels);

struct Labels {
  const std::vector<std::string>& rows;
  const std::vector<std::string>& columns;
};

/// Queries down, keys across, one matrix.
[[nodiscard]] NamedHeatmap matrix_picture(std::string id, std::string title, const TensorView& values,
                                          const Labels& labels);

/// The same of self-attention whose means over blocks of so many tokens are already there.
[[nodiscard]] NamedHeatmap means_picture(std::string id, std::string title, const TensorView& means,
                                         const std::vector<std::string>& tokens, std::int64_t block);

/// The label of each block of rows: "4 cat…", or "4–5" where rows are called by their numbers.
[[nodiscard]] std::vector<std::string> every_label(const std::vector<std::string>& labels, std::int64_t block);

/// A weight matrix: rows and columns are dimensions.
[[nodiscard]] NamedHeatmap parameters(std::string id, std::string title, const TensorView& values,
                                      std::string_view row_axis);

/// Labels of the columns of packed heads: "h0.0", "h0.1", …
[[nodiscard]] std::vector<std::string> packed_labels(std::int64_t heads, std::int64_t width);

/// Each head of [1, H, T, D] as a matrix whose rows are `labels`.
[[nodiscard]] std::vector<NamedHeatmap> head_vectors(std::string_view id, std::string_view title,
                                                     const TensorView& values, const std::vector<std::string>& labels);

/// Each head of [1, H, Tq, Tk]: queries down, keys across. Signed colours, or weights from 0 to 1. Where `masked` is
/// not empty, its -inf are drawn as hidden.
enum class Scores : std::uint8_t { signed_scores, weights };
[[nodiscard]] std::vector<NamedHeatmap> head_scores(std::string_view id, std::string_view title, const Run& run,
                                                    const TensorView& values, Scores kind, const TensorView& masked);

}  // namespace qkv::explain_detail
