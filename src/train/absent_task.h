// A task whose examples are not here: what a model's file says of it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "qkv/train/task.h"

namespace qkv::train {

/// The words that make_absent_task() reads.
void describe(const Task& task, std::map<std::string, std::string>& words);

/// Throws Error for words that are missing or have no meaning.
[[nodiscard]] std::unique_ptr<const Task> make_absent_task(const std::string& name,
                                                           const std::map<std::string, std::string>& words);

}  // namespace qkv::train
