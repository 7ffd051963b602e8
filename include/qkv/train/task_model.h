// A model for a task: which kind, how large, and with which tokenizers.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/model/model.h"
#include "qkv/random.h"
#include "qkv/train/task.h"

namespace qkv {

struct TaskModelOptions {
  ModelKind kind = kind_of<Decoder>;
  std::int64_t layers = 2;  // of each stack
  std::int64_t d_model = 64;
  std::int64_t heads = 4;
  std::optional<std::int64_t> d_ff = std::nullopt;  // 4 * d_model by default
  Positions positions = Positions::rotary;
};

/// A model for the task, with its tokenizers. Draws its parameters. A decoder reads a source before its tokens. Throws
/// InvalidArgument for a kind that cannot read the task or answer it, and as the model's own options do.
[[nodiscard]] Model make_task_model(const TaskModelOptions& options, const Task& task, Generator& generator);

}  // namespace qkv
