// The built-in tasks: examples made from a seed, each with the attention pattern that a solved model must show.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/examples.h"
#include "qkv/text/vocabulary.h"

namespace qkv {

/// The kind of model that a task is for, and with it which parts of an Example are there.
enum class TaskKind : std::uint8_t {
  decoder,          // tokens; a query sees keys up to itself
  encoder,          // tokens; a query sees all
  encoder_decoder,  // source for the encoder, tokens for the decoder
  image_text,       // image, and the tokens of its caption for a decoder over the patches
};
/// "decoder", "encoder", "encoder-decoder", "image-text"
[[nodiscard]] std::string_view name_of(TaskKind kind) noexcept;

struct TaskInfo {
  std::string name;         // "induction"
  std::string description;  // one line
  TaskKind kind = TaskKind::decoder;
  double accuracy = 0;  // share of the scored labels of the test split that a trained model must get right
  /// What TaskOptions::length counts, with the default and the bounds; none if the task has no length.
  struct Length {
    std::string unit;
    std::int64_t usual = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::optional<Length> length;
};

struct TaskOptions {
  std::uint64_t seed = 0;
  /// How long examples get, in the unit of TaskInfo::Length: to train short and test long.
  std::optional<std::int64_t> length = std::nullopt;
};

/// What there is to learn: examples under a name.
class Task : public Examples {
 public:
  [[nodiscard]] virtual const TaskInfo& info() const noexcept = 0;
  [[nodiscard]] bool labels_tokens() const noexcept override { return info().kind == TaskKind::encoder; }
  /// A hash of all data that the examples are made of; nullopt if they follow from the options alone.
  [[nodiscard]] virtual std::optional<std::uint64_t> data_hash() const { return std::nullopt; }
};

/// All built-in tasks, the simplest first.
[[nodiscard]] std::span<const TaskInfo> tasks();

/// Throws InvalidArgument for a name that is no task's, with the nearest one, and for a length out of its bounds, or of
/// a task that has none.
[[nodiscard]] std::unique_ptr<const Task> make_task(std::string_view name, const TaskOptions& options = {});

/// An example as a table for people: a row for each query with its token, its label and the keys of each relation.
/// Unscored labels stand in parentheses. An image comes first, a letter of the colour for each block of 4 x 4 pixels.
[[nodiscard]] std::string show(const Task& task, const Example& example);

}  // namespace qkv
