// How well the heads of a model show the relations of its examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/examples.h"
#include "qkv/model/model.h"

namespace qkv {

/// How well weights show a relation. Scores of more examples add up.
struct PatternScore {
  double weight_sum = 0;  // over rows: the weight on the row's keys
  std::int64_t hits = 0;  // rows whose largest weight is on one of them; the first of equals counts
  std::int64_t rows = 0;  // rows that have a pattern

  /// One row: the weights of a query over all its keys.
  void add(const PatternRow& row, std::span<const double> weights) noexcept;
  PatternScore& operator+=(const PatternScore& other) noexcept;
  /// In [0, 1]; 0 if there are no rows.
  [[nodiscard]] double mean_weight() const noexcept;
  [[nodiscard]] double accuracy() const noexcept;
};

/// One score for each head. `weights` is [heads, Tq, Tk] of the relation's site, floating, any strides, with Tq and Tk
/// those of the example: slice off padding. Rows without a pattern do not count. Throws InvalidArgument for another
/// rank or length, and for a relation that the examples have not.
[[nodiscard]] std::vector<PatternScore> score_pattern(const Examples& from, const Example& example,
                                                      std::string_view relation, const TensorView& weights);

/// One score for each layer and head.
struct RelationScores {
  std::string relation;
  AttentionSite site = AttentionSite::tokens;
  std::vector<std::vector<PatternScore>> layers;  // none if the model has no such site
};

/// How many of the first `count` examples of the test split are different ones: no more than there are.
[[nodiscard]] std::int64_t held_out_examples(const Examples& from, std::int64_t count) noexcept;

/// For each relation in its order, on the first `count` examples of the test split, each once. Throws InvalidArgument
/// naming count.
[[nodiscard]] std::vector<RelationScores> relation_scores(const Examples& from, const Model& model, std::int64_t count);

/// The head with the largest mean weight on the relation.
struct BestHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  PatternScore score = {};
};
/// Throws InvalidArgument if there is no layer.
[[nodiscard]] BestHead best_head(const RelationScores& scores);

}  // namespace qkv
