// What a trained model makes of a text, explained: what it says, what every head looks at, and each step of the heads
// of one layer. Plain data in, so that nothing here knows of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/explain.h"

namespace qkv {

/// Which keys a solved model's queries attend to, and how far each head does so in this text.
struct ReadingRelation {
  std::string name;                         // "induction"
  std::string description;                  // "a query to the token after ..."
  std::vector<std::vector<double>> layers;  // mean weight on the pattern, a layer and head
};

/// The attention of one kind in all layers: of the tokens, of the source, or across.
struct ReadingSite {
  std::string name;                  // "tokens"
  std::vector<std::string> queries;  // Tq
  std::vector<std::string> keys;     // Tk
  std::vector<Tensor> weights;       // [H, Tq, Tk] a layer
  Mask mask = {};                    // what was hidden
  std::vector<ReadingRelation> relations = {};
  std::int64_t key_columns = 0;  // where keys are the places of an image, row by row: places in a row
};

struct Reading {
  std::string title;
  std::vector<Setting> settings;
  std::vector<std::string> tokens;  // T
  Tensor probabilities;             // [T, vocabulary] of what is said at each token; empty where nothing is
  std::vector<std::string> vocabulary;
  std::vector<std::string> right;  // what should be said, "" where that is not asked; empty where not known
  std::vector<ReadingSite> sites;
  std::size_t site = 0;   // whose steps are shown
  std::size_t layer = 0;  // likewise
  std::size_t head = 0;   // whose weights are drawn over the image, where there is one
  OwnTensors heads;       // q, k, v of it, [H, T, D], as the scores see them
  Bias bias = {};
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
};

/// Steps "says", "heads", "image" where the keys are places of one, "patterns" where a site has relations; then those
/// of explain() for own tensors. Throws InvalidArgument naming site, layer, head, probabilities or what explain()
/// refuses.
[[nodiscard]] Explanation explain(const Reading& reading);

}  // namespace qkv
