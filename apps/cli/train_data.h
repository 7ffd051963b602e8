// What `qkv train` learns from, and the model that learns it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/train/task.h"
#include "qkv/train/task_model.h"
#include "train_settings.h"

namespace qkv::cli {

/// "text", whose data is a file of the reader's own, and "pictures", a directory. Built-in tasks have none.
[[nodiscard]] bool takes_data(std::string_view task);
/// As the command line has it: "copy", "text book.txt".
[[nodiscard]] std::string target_of(const TrainSettings& settings);

/// Throws Error where the data cannot be read, InvalidArgument where they are not fit.
[[nodiscard]] std::unique_ptr<const Task> task_of(const TrainSettings& settings);
[[nodiscard]] Model model_of(const TrainSettings& settings, const Task& task);

/// A hash of the vocabularies, some examples and all data that they are made of, in hexadecimal.
[[nodiscard]] std::string fingerprint(const Task& task);
/// Throws Error where the run that `saved` is of had other examples.
void require_same_examples(const std::map<std::string, std::string>& saved,
                           const std::map<std::string, std::string>& now, const TrainSettings& settings);

}  // namespace qkv::cli
