// Which caption belongs to which picture: `qkv match`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/explain.h"
#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/explain/match.h"
#include "qkv/model/match.h"

namespace qkv {

struct MatchRequest {
  std::vector<std::string> images;  // PNG files
  std::vector<std::string> captions;
  std::string model = "towers";
  bool maps = false;
};

[[nodiscard]] const Fields<MatchRequest>& match_fields();

/// Reads the images. Throws Error for a file that is none.
[[nodiscard]] MatchQuestion match_question(const MatchRequest& request);

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

/// Opens the model. Throws as match_question() and match_pairs().
[[nodiscard]] MatchFigures answer(const MatchRequest& request);

[[nodiscard]] const Members<MatchFigures>& members_of(const MatchFigures* figures);

}  // namespace qkv
