// How well heads show the patterns of a task, from the weights of a pass that is read for other reasons as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qkv/insight/heads.h"
#include "qkv/model/relation_scores.h"

namespace qkv::insight {

class PatternTally {
 public:
  /// `patterns` is kept by reference.
  PatternTally(const Model& model, const TaskPatterns& patterns);

  /// Some rows of text `text`, of the queries from `first` on: weights [H, rows, Tk] of a layer of the site.
  void add(std::size_t text, AttentionSite site, std::size_t layer, std::int64_t first, const TensorView& weights);

  /// For each pattern of the sites that were added its best head.
  [[nodiscard]] std::vector<PatternHead> heads() const;

 private:
  const TaskPatterns& patterns_;
  std::vector<AttentionSite> own_;  // of each relation
  std::vector<RelationScores> scores_;
};

}  // namespace qkv::insight
