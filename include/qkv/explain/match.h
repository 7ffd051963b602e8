// What two towers make of pictures and captions, as an explanation: cosines, probabilities, and maps over each picture.
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
  bool maps = true;  // of each pair; each costs a pass forward and back, and one forward for each patch
};

/// Step "match": the probabilities of all pairs, and of each picture a table of its captions. With maps, for picture N,
/// counted from 1, over the picture as the model sees it: "maps-N", what the cosine with each caption rests on, and
/// "words-N", where each word of its best caption is seen. `match` is match_pairs() of the same. Throws InvalidArgument
/// as match_pairs(), and naming names or match if there are not as many as pictures and captions.
[[nodiscard]] Explanation explain_match(const TextModel& model, const MatchQuestion& question, const PairMatch& match);

}  // namespace qkv
