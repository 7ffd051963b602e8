// A directory of pictures with captions as a task: say what a picture shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/train/task.h"

namespace qkv {

/// The words of a caption: what stands between white space, without ASCII punctuation at its ends, ASCII letters small;
/// an apostrophe inside ends a word, as TextForm::words has it.
[[nodiscard]] std::vector<std::string> caption_words(std::string_view caption);

struct PictureTaskOptions {
  std::uint64_t seed = 0;        // of the order in training
  std::int64_t image_side = 48;  // pixels that the model sees
  std::int64_t patch_side = 8;   // a divisor of image_side
};

/// Pictures and captions of read_captions() (qkv/captions.h), all read when it is made; it holds a picture as
/// 3 * image_side^2 bytes. An example asks for each word of the caption and "</s>" after "<s>"; all count. The
/// vocabulary is the 8,188 most frequent words of the training split, the rest being "<unknown>". info().accuracy is 0:
/// there is no goal.
class PictureTask final : public Task {
 public:
  /// Throws Error as read_captions() and decode_png() do, naming the file, and for a caption without a word or fewer
  /// than two different pictures; InvalidArgument naming the option.
  explicit PictureTask(const std::string& directory, const PictureTaskOptions& options = {});

  [[nodiscard]] const TaskInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const TextLengths& lengths() const noexcept override { return lengths_; }
  /// None: nobody has said which patches a word is about.
  [[nodiscard]] const std::vector<Relation>& relations() const noexcept override { return relations_; }
  [[nodiscard]] const Tokenizer& vocabulary() const noexcept override { return vocabulary_; }

  /// Training goes through all of its pictures in an order of its own each time, the test through its own again and
  /// again. A picture's bytes say which split it is in, one in eight being for the test; where that leaves a split
  /// empty, the picture of the least hash goes there.
  [[nodiscard]] Example example(Split split, std::int64_t n) const override;

  [[nodiscard]] std::optional<std::int64_t> count(Split split) const noexcept override;
  /// Of all pictures, as a model sees them, and their captions.
  [[nodiscard]] std::optional<std::uint64_t> data_hash() const override;

 private:
  struct Entry {
    std::vector<std::uint8_t> pixels;  // [3, side, side]
    std::vector<std::int32_t> words;
  };
  struct Loaded;

  PictureTask(const std::vector<Loaded>& loaded, const std::string& directory, const PictureTaskOptions& options);
  [[nodiscard]] static std::vector<Loaded> load(const std::string& directory, const PictureTaskOptions& options);
  [[nodiscard]] const std::vector<Entry>& entries(Split split) const noexcept;

  TaskInfo info_;
  TextLengths lengths_;
  std::vector<Relation> relations_;
  Vocabulary vocabulary_;
  std::uint64_t seed_;
  std::vector<Entry> train_;
  std::vector<Entry> test_;
};

}  // namespace qkv
