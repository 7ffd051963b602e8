// What a model's file says of its task.
#pragma once

#include <memory>

#include "model/words.h"
#include "qkv/model/text_model.h"
#include "qkv/train/task.h"

namespace qkv::training {

/// The built-in task that the words name; null for another one. Throws Error or InvalidArgument for settings that have
/// no meaning.
[[nodiscard]] std::shared_ptr<const Task> task_of(const Words& words);

/// What the words say of a task whose examples are not here: its kind and sizes. Throws Error for words that are
/// missing or have no meaning.
[[nodiscard]] Learnt learnt_elsewhere(const Words& words);

}  // namespace qkv::training
