#include "train/tasks/generated_task.h"

#include <algorithm>

namespace qkv::train {
namespace {

// One content in eight is for the test.
Split split_of(const std::vector<std::int32_t>& content) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  for (const std::int32_t value : content) {  // the finaliser of SplitMix64 (Steele et al. 2014) for each number
    hash += static_cast<std::uint32_t>(value) + 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
    hash ^= hash >> 31U;
  }
  return hash % 8 == 0 ? Split::test : Split::train;
}

}  // namespace

TaskExample GeneratedTask::example(Split split, std::int64_t n) const {
  if (n < 0) throw InvalidArgument("Task::example", "n", "0 or more", std::to_string(n));
  RandomOrigin origin{.seed = seed_, .task = task_number(info().name), .split = split == Split::test ? 1U : 0U, .n = n};
  for (;; ++origin.attempt) {
    TaskRandom random(origin);
    Draft made = draft(random);
    if (split_of(made.content) == split) return std::move(made.example);
  }
}

TaskExample blank_example(std::vector<std::int32_t> tokens, std::size_t relations) {
  TaskExample example;
  example.labels.resize(tokens.size());
  example.scored.resize(tokens.size());
  example.tokens = std::move(tokens);
  example.patterns.resize(relations);
  return example;
}

void ask(TaskExample& example, std::int64_t p, std::int32_t label) {
  example.labels[static_cast<std::size_t>(p)] = label;
  example.scored[static_cast<std::size_t>(p)] = true;
}

std::vector<std::string> letters_after(std::vector<std::string> names) {
  names.insert(names.begin(), "<pad>");
  for (char letter = 'a'; letter <= 'z'; ++letter) names.emplace_back(1, letter);
  return names;
}

}  // namespace qkv::train
