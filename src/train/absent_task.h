// A task whose examples are not here: what a model's file says of it.
#pragma once

#include <memory>
#include <string>

#include "model/words.h"
#include "qkv/train/task.h"

namespace qkv::training {

/// The words that make_absent_task() reads.
void describe(const Task& task, Words& words);

/// Throws Error for words that are missing or have no meaning, and without a tokenizer.
[[nodiscard]] std::unique_ptr<const Task> make_absent_task(const std::string& name, const Words& words,
                                                           std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace qkv::training
