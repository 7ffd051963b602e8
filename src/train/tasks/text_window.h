// A window of a text as an example: what it asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "qkv/train/text_task.h"
#include "train/tasks/random.h"

namespace qkv::training {

class TextWindow {
 public:
  /// Throws InvalidArgument as make_text_task(), of the options alone.
  explicit TextWindow(const TextTaskOptions& options);

  /// Tokens of the text that an example is made of.
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] TaskLengths lengths() const noexcept;
  /// Of size() tokens and the one after them.
  [[nodiscard]] TaskExample example(std::span<const std::int32_t> tokens, TaskRandom& random) const;

 private:
  [[nodiscard]] TaskExample next(std::span<const std::int32_t> tokens) const;
  [[nodiscard]] TaskExample masked(std::span<const std::int32_t> tokens, TaskRandom& random) const;
  [[nodiscard]] TaskExample continued(std::span<const std::int32_t> tokens) const;
  void change(TaskExample& example, std::size_t place, TaskRandom& random) const;

  TextObjective objective_;
  std::int64_t size_;
  std::int32_t start_;
  std::vector<std::int32_t> before_ = {};  // special tokens around what an encoder reads
  std::vector<std::int32_t> after_ = {};
  std::int32_t mask_ = 0;
  std::uint32_t pieces_ = 0;  // of the tokenizer
};

}  // namespace qkv::training
