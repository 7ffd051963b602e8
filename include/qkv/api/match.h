// What `qkv match` prints as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/explain.h"
#include "qkv/api/member.h"
#include "qkv/explain/match.h"
#include "qkv/model/match.h"

namespace qkv {

struct MatchFigures {
  std::string model, loss;
  std::vector<std::string> images, captions;
  std::vector<std::vector<double>> cosines, logits, probabilities;  // a row for each image
  std::vector<std::int64_t> best_caption, best_image;
  std::optional<ExplainReply> explanation;
};

/// Of match_pairs() of the question by these towers; `model` says whose.
[[nodiscard]] MatchFigures match_figures(const MatchQuestion& question, const PairMatch& match, const TwoTower& towers,
                                         const std::string& model);

[[nodiscard]] const Members<MatchFigures>& members_of(const MatchFigures* figures);

}  // namespace qkv
