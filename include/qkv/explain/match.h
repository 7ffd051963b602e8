// How two towers match pictures and captions: cosines, probabilities, and maps over each picture.
#pragma once

#include <string>
#include <vector>

#include "qkv/explain.h"
#include "qkv/model/match.h"

namespace qkv {

struct MatchQuestion {
  std::string title = {};             // what the explanation calls the model
  std::vector<Tensor> pictures;       // u8 [H, W, 3]
  std::vector<std::string> names;     // what it calls each of them
  std::vector<std::string> captions;  // UTF-8
  bool maps = true;  // of each pair; a map costs a forward and a backward pass, and a forward pass for each patch
};

/// Step "match": the probabilities of all pairs, and a table of captions for each picture. With maps there are two more
/// steps for picture N, counted from 1, drawn over the picture as the model sees it: "maps-N", which patches the cosine
/// with each caption rests on, and "words-N", where each word of its best caption is seen. `match` is what
/// match_pairs() gives for the question. Throws InvalidArgument as match_pairs(), and naming names or match if their
/// counts are not those of the pictures and captions.
[[nodiscard]] Explanation explain_match(const TextModel& model, const MatchQuestion& question, const PairMatch& match);

}  // namespace qkv
