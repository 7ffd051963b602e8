// What a trained model makes of a text, explained: what it says, what every head looks at, and each step of the heads
// of one layer. Plain data in, so that nothing here knows of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/explain.h"

namespace qkv {

/// The keys that a query of this text should attend to.
struct ReadingRow {
  std::size_t query = 0;
  std::vector<std::size_t> keys;
};

/// Which keys a solved model's queries attend to, and how far each head does so in this text.
struct ReadingRelation {
  std::string name;                         // "induction"
  std::string description;                  // "a query to the token after ..."
  std::vector<std::vector<double>> layers;  // mean weight on the pattern, a layer and head
  std::vector<ReadingRow> rows = {};        // by rising query
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

/// A text beside an image, and how near the two are.
struct ReadingCaption {
  std::string text;
  double cosine = 0;
};

struct Reading {
  std::string title;
  std::vector<Setting> settings;
  std::vector<std::string> notes = {};  // what is to be known first, a line each
  std::vector<std::string> tokens;      // T
  Tensor probabilities;                 // [T, vocabulary] of what is said at each token; empty where nothing is
  std::vector<std::string> vocabulary;
  std::vector<std::string> right;  // what should be said, "" where that is not asked; empty where not known
  std::vector<ReadingCaption> captions = {};
  Tensor image = {};  // [3, H, W] in [0, 1]; empty where there is none
  std::vector<ReadingSite> sites;
  std::size_t site = 0;   // whose steps are shown
  std::size_t layer = 0;  // likewise
  std::size_t head = 0;   // of that layer: the one that is shown first, and laid out over the image
  OwnTensors heads;       // q, k, v of it, [H, T, D], as the scores see them
  bool turned = false;    // q and k by their position
  Bias bias = {};
  std::optional<std::string> query = std::nullopt;  // a token to write out, or its index
};

/// Steps "says", "captions" where there are some, "head", "patterns" where a site has relations, "picture" and "image"
/// where the keys are places of one, "heads" of each site; then those of explain() for own tensors. Throws
/// InvalidArgument naming site, layer, head, probabilities or what explain() refuses.
[[nodiscard]] Explanation explain(const Reading& reading);
/// What says the most in the least room: the steps before "heads", and of the maps over an image those of the tokens
/// that have a pattern, where any has one.
[[nodiscard]] Explanation in_short(const Explanation& explanation);

}  // namespace qkv
