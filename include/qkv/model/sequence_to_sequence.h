// A recurrent encoder and decoder, as translation was learnt before the transformer: through one vector (Sutskever et
// al. 2014), or with attention over all states of the encoder (Bahdanau et al. 2015; the scores of Luong et al. 2015).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/nn/embedding.h"
#include "qkv/nn/linear.h"
#include "qkv/nn/recurrent.h"

namespace qkv {

/// What the decoder knows of the text that was read.
enum class Recall : std::uint8_t {
  last_state,  // one vector: the encoder's last state, with which the decoder begins
  all_states,  // that, and attention over the state after each token
};
/// "last-state", "all-states"
[[nodiscard]] std::string_view name_of(Recall recall) noexcept;

struct SequenceToSequenceOptions {
  std::int64_t tokens = 0;     // different ones, V
  std::int64_t embedding = 0;  // numbers of a token
  std::int64_t width = 0;      // H, of either state
  Recall recall = Recall::last_state;
  std::int64_t d_k = 0;  // of queries, keys and values; with all_states
  DType dtype = DType::f32;
};

/// What a model has written, token by token.
struct Written {
  Tensor tokens;         // i64 [B, T]
  Tensor probabilities;  // f64 [B, T, V]
  Tensor weights;        // f64 [B, T, Tk]: of the answers on the states; no elements without attention
};

/// Reads T tokens and writes as many. Parameters: embedding.weight [V + 1, embedding], whose last row begins an answer;
/// encoder.*, decoder.*; with attention q.weight, k.weight and v.weight [d_k, H]; out.* to V.
class SequenceToSequence {
 public:
  /// Throws InvalidArgument naming the option at fault.
  SequenceToSequence(const SequenceToSequenceOptions& options, const Init& init);

  /// The state after each token of ids, i64 [B, T], T >= 1: T variables [B, H]. Throws InvalidArgument naming ids.
  [[nodiscard]] std::vector<Variable> encode(const TensorView& ids) const;
  /// Scores [B, Ta, V] of each token of the answer, i64 [B, Ta], from those before it and the text. The backward pass
  /// goes through both. Throws InvalidArgument naming ids or answer.
  [[nodiscard]] Variable forward(const TensorView& ids, const TensorView& answer) const;
  /// The likeliest token each time, as many as `ids` has; each is read back. Records nothing.
  [[nodiscard]] Written write(const TensorView& ids) const;

  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const SequenceToSequenceOptions& options() const noexcept { return options_; }

 private:
  struct Memory {
    Variable k;  // [B, 1, Tk, d_k]; empty without attention
    Variable v;
  };
  [[nodiscard]] Memory remembered(const std::vector<Variable>& states) const;
  [[nodiscard]] Variable query(const Variable& states) const;
  [[nodiscard]] Variable scores(const Variable& states, const Memory& memory) const;
  [[nodiscard]] bool attends() const { return options_.recall == Recall::all_states; }

  SequenceToSequenceOptions options_;
  Embedding embedding_;
  GruCell encoder_;
  GruCell decoder_;
  std::vector<Linear> attention_;  // q, k and v; none without
  Linear out_;
};

/// The model as a file, and out of it; `notes` stand in the file's metadata beside the options. Throws Error for a
/// file that is none.
void write_sequence_to_sequence(const SequenceToSequence& model, const std::string& path,
                                const std::map<std::string, std::string>& notes = {});
[[nodiscard]] SequenceToSequence read_sequence_to_sequence(const std::string& path);

}  // namespace qkv
