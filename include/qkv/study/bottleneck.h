// What one vector of fixed size can hold of a text: two recurrent models that learn to repeat letters, one through its
// last state, one with attention over all states.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/model/sequence_to_sequence.h"

namespace qkv {

inline constexpr std::int64_t kLetters = 26;
inline constexpr std::int64_t kBottleneckLongest = 24;  // letters of a text in training

struct BottleneckSetup {
  std::int64_t longest = kBottleneckLongest;  // letters of a text in training: 1 to this, equally often
  std::int64_t embedding = 32;                // numbers of a letter
  std::int64_t width = 64;                    // of the states of the model with attention
  std::int64_t vector = 71;                   // of the model with one vector: as many parameters within 5 %
  std::int64_t d_k = 32;                      // of queries, keys and values
  std::int64_t steps = 12000;
  std::int64_t batch = 64;  // texts of a step, all of one length
  double learning_rate = 4e-3;
  std::uint64_t seed = 1;
};

struct BottleneckModels {
  SequenceToSequence vector;
  SequenceToSequence attention;
};

/// Both untrained, drawn from the seed.
[[nodiscard]] BottleneckModels make_bottleneck_models(const BottleneckSetup& setup);

struct BottleneckWatch {
  std::function<void(const std::string& model, std::int64_t step, double loss)> step;
  std::function<bool()> stopped;  // true ends training there
};

/// Trains in place on random letters: what was read is to be written again. Both read the same texts. A pure function
/// of the setup. Returns the losses of the last step, of `vector` and of `attention`.
std::pair<double, double> train_bottleneck(const BottleneckModels& models, const BottleneckSetup& setup,
                                           const BottleneckWatch& watch);

/// How well a model repeats random texts of one length.
struct BottleneckScore {
  std::int64_t length = 0;
  double letters = 0;  // share of letters that are right, in [0, 1]
  double texts = 0;    // share of texts in which all are
};
/// On `texts` random texts of `length` letters, drawn by a seed that no training step has. Each letter written is read
/// back, right or wrong.
[[nodiscard]] BottleneckScore measure_bottleneck(const SequenceToSequence& model, std::int64_t length,
                                                 std::int64_t texts, std::uint64_t seed);

/// Of both models at one length.
struct BottleneckPoint {
  BottleneckScore vector;
  BottleneckScore attention;
};
/// For people: sizes and scores.
[[nodiscard]] std::string bottleneck_table(const BottleneckModels& models, const std::vector<BottleneckPoint>& points);

/// The two in a directory, vector.safetensors and attention.safetensors; and in the box, models/bottleneck.
void write_bottleneck_models(const BottleneckModels& models, const BottleneckSetup& setup,
                             const std::string& directory);
[[nodiscard]] BottleneckModels read_bottleneck_models(const std::string& directory);
[[nodiscard]] BottleneckModels bottleneck_models_of_the_box();

/// Letters a to z as ids, i64 [1, T]. Throws InvalidArgument naming text for another character, and for none.
[[nodiscard]] Tensor bottleneck_ids(std::string_view text);

/// How much the state after token s depends on token t: the root of the mean square of how far it moves, over all
/// other letters in that place. f64 [T, T]; 0 for t > s. One pass over 26 T texts.
[[nodiscard]] Tensor state_dependence(const SequenceToSequence& model, const TensorView& ids);

}  // namespace qkv
