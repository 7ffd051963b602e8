// Which caption belongs to which picture: `qkv match`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/explain.h"
#include "qkv/api/field.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/models.h"
#include "qkv/api/saying.h"
#include "qkv/explain/match.h"
#include "qkv/model/match.h"

namespace qkv {

struct MatchRequest {
  std::vector<std::string> images;  // PNG files
  std::vector<std::string> captions;
  FileOfTexts file;  // a caption on each line, after the others
  std::string model = "towers";
  bool maps = false;
  std::optional<bool> numbers;  // of the maps: true
};

[[nodiscard]] const Fields<MatchRequest>& match_fields();

struct MatchFigures {
  std::string model, loss;
  std::vector<std::string> images, captions;
  std::vector<std::vector<double>> cosines, logits, probabilities;  // a row for each image
  std::vector<std::int64_t> best_caption, best_image;
  std::optional<ExplainReply> explanation;
  std::vector<std::string> cautions;
};

/// What was asked, and what the towers make of it.
struct MatchFound {
  OpenedModel model;
  MatchQuestion question;
  PairMatch match;
  Explanation explanation;
  PairLoss loss;  // that the towers learned by
};

/// Reads the pictures and opens the model. Throws InvalidArgument naming `images` or `captions` where there are none,
/// the file of a picture, or a caption; Error for a file that cannot be read. Errors call the first `among_images`
/// captions `images`, beside which they were given.
[[nodiscard]] MatchFound found_match(const MatchRequest& request, const Saying& saying = {},
                                     std::size_t among_images = 0);
/// The same of pictures that are here, u8 [H, W, 3], of which the request has the names. An error names images[n].
[[nodiscard]] MatchFound found_match(const MatchRequest& request, std::vector<Tensor> pictures,
                                     const Saying& saying = {});
/// Those of the pictures, then those of the captions: f32 [I + T, d_embedding].
[[nodiscard]] Tensor vectors_of(const PairMatch& match);
[[nodiscard]] MatchFigures match_figures(const MatchRequest& request, const MatchFound& found);
[[nodiscard]] MatchFigures answer(const MatchRequest& request, const Saying& saying = {});

[[nodiscard]] Members<MatchFigures> describe(const MatchFigures* figures);

}  // namespace qkv
