// The built-in tasks and their examples as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "qkv/train/task.h"

namespace qkv {

/// Which examples are told.
struct ExampleRange {
  Split split = Split::test;
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// {"tasks": […]}: name, description, kind, the model that learns it, goal and length of each. Two spaces of
/// indentation, a newline at its end; so has the other.
[[nodiscard]] std::string tasks_json();
/// One task with its lengths, sizes of its vocabularies, relations, and examples. An image is left out: patterns name
/// its patches. `seed` is that of the task. Throws InvalidArgument as Task::example().
[[nodiscard]] std::string task_json(const Task& task, const ExampleRange& range, std::uint64_t seed);

}  // namespace qkv
