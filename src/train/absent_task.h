// A task whose examples are not here: what a model's file says of it.
#pragma once

#include <memory>
#include <string>

#include "model/words.h"
#include "qkv/model/model.h"
#include "qkv/train/task.h"

namespace qkv::training {

/// The words that make_absent_task() reads.
void describe(const Task& task, Words& words);

/// Throws Error for words that are missing or have no meaning, and without a tokenizer.
[[nodiscard]] std::unique_ptr<const Task> make_absent_task(const std::string& name, const Words& words,
                                                           std::shared_ptr<const Tokenizer> tokenizer);

/// Of a model that learnt no task here: it has the model's tokenizers and lengths, and no name. An encoder is asked at
/// its mask tokens, "[MASK]" or "<mask>", if the text has some. The model has a tokenizer.
[[nodiscard]] std::unique_ptr<const Task> make_task_of(const Model& model);

}  // namespace qkv::training
