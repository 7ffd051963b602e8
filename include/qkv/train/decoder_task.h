// A built-in task as texts for a decoder: batches, accuracy, and what its heads show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/model/decoder.h"
#include "qkv/train/task.h"
#include "qkv/train/training.h"

namespace qkv {

/// Examples side by side, the shorter ones padded at their end.
struct TextBatch {
  Tensor ids;               // i64 [B, T]
  Tensor targets;           // i64 [B, T]: what is to be said at each place, -100 where nothing is asked
  Tensor scored;            // i64 [B, T]: 1 where the answer counts in the accuracy
  std::int64_t tokens = 0;  // without the padding
};

struct TaskAccuracy {
  std::int64_t right = 0;
  std::int64_t asked = 0;  // scored places
  double loss = 0;         // mean over all that is asked
  [[nodiscard]] double share() const noexcept;
};

/// One score for each layer and head.
struct RelationScores {
  std::string relation;
  std::vector<std::vector<PatternScore>> layers;
};

/// A task whose answers follow from what stands before them. An example is one text: its source, if it has one, and
/// then its tokens; source tokens follow those of the answers in the numbering, where they are of another vocabulary.
class DecoderTask {
 public:
  /// Keeps a reference. Throws InvalidArgument for the tasks that a decoder cannot read or answer: english, whose gaps
  /// are filled from both sides, and those with images.
  explicit DecoderTask(const Task& task);

  [[nodiscard]] const Task& task() const noexcept { return task_; }
  /// Tokens of a decoder for it.
  [[nodiscard]] std::int64_t vocabulary() const noexcept;
  /// The longest text.
  [[nodiscard]] std::int64_t length() const noexcept;

  /// Examples first to first + count - 1 of a split.
  [[nodiscard]] TextBatch batch(Split split, std::int64_t first, std::int64_t count) const;
  /// On the first `count` examples of the test split.
  [[nodiscard]] TaskAccuracy accuracy(const learn::Decoder& decoder, std::int64_t count) const;
  /// Likewise, for each relation of the task in its order.
  [[nodiscard]] std::vector<RelationScores> patterns(const learn::Decoder& decoder, std::int64_t count) const;

 private:
  const Task& task_;
  std::int64_t source_offset_;
};

}  // namespace qkv
