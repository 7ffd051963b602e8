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
  [[nodiscard]] TextLengths lengths() const noexcept;
  /// Of size() tokens and the one after them.
  [[nodiscard]] Example example(std::span<const std::int32_t> tokens, TaskRandom& random) const;

 private:
  [[nodiscard]] Example next(std::span<const std::int32_t> tokens) const;
  [[nodiscard]] Example masked(std::span<const std::int32_t> tokens, TaskRandom& random) const;
  [[nodiscard]] Example continued(std::span<const std::int32_t> tokens) const;
  void change(Example& example, std::size_t place, TaskRandom& random) const;

  TextObjective objective_;
  std::int64_t size_;
  std::int32_t start_;
  std::vector<std::int32_t> before_ = {};  // special tokens around what an encoder reads
  std::vector<std::int32_t> after_ = {};
  std::int32_t mask_ = 0;
  std::uint32_t pieces_ = 0;  // of the tokenizer
};

}  // namespace qkv::training
