#include "train/tasks/generated_task.h"

#include <algorithm>

namespace qkv::training {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash += value + kGolden;
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
  return hash ^ (hash >> 31U);
}

}  // namespace

std::uint64_t hash_of(std::span<const std::int32_t> content) noexcept {
  std::uint64_t hash = kGolden;
  for (const std::int32_t value : content) hash = mixed(hash, static_cast<std::uint32_t>(value));
  return hash;
}

std::uint64_t hash_of(std::span<const std::byte> content) noexcept {
  std::uint64_t hash = mixed(kGolden, content.size());
  while (!content.empty()) {
    const std::span<const std::byte> next = content.first(std::min(content.size(), sizeof(std::uint64_t)));
    std::uint64_t value = 0;
    for (const std::byte byte : next) value = value << 8U | std::to_integer<std::uint64_t>(byte);
    hash = mixed(hash, value);
    content = content.subspan(next.size());
  }
  return hash;
}

Split split_of_hash(std::uint64_t hash) noexcept { return hash % 8 == 0 ? Split::test : Split::train; }

Example GeneratedTask::example(Split split, std::int64_t n) const {
  if (n < 0) throw InvalidArgument("Task::example", "n", "0 or more", std::to_string(n));
  RandomOrigin origin{.seed = seed_, .task = task_number(info().name), .split = split == Split::test ? 1U : 0U, .n = n};
  for (;; ++origin.attempt) {
    TaskRandom random(origin);
    Draft made = draft(random);
    if (split_of_hash(hash_of(made.content)) == split) return std::move(made.example);
  }
}

std::vector<bool> GeneratedTask::asked(const Example& example) const {
  if (info().kind == TaskKind::encoder_decoder || info().kind == TaskKind::image_text) return {};
  std::vector<bool> places;
  for (const auto& label : example.labels) places.push_back(label.has_value());
  return places;
}

Example blank_example(std::vector<std::int32_t> tokens, std::size_t relations) {
  Example example;
  example.tokens = std::move(tokens);
  clear_marks(example, relations);
  return example;
}

void clear_marks(Example& example, std::size_t relations) {
  example.labels.assign(example.tokens.size(), std::nullopt);
  example.scored.assign(example.tokens.size(), false);
  example.patterns.assign(relations, {});
}

std::vector<std::string> outside_lengths(const std::string& unit, std::int64_t count, std::int64_t least,
                                         std::int64_t most) {
  if (count >= least && count <= most) return {};
  return {"it learned from texts of " + std::to_string(least) + " to " + std::to_string(most) + " " + unit +
          "; this one has " + std::to_string(count)};
}

void ask(Example& example, std::int64_t p, std::int32_t label) {
  example.labels[static_cast<std::size_t>(p)] = label;
  example.scored[static_cast<std::size_t>(p)] = true;
}

std::vector<std::string> letters_after(std::vector<std::string> names) {
  names.insert(names.begin(), "<pad>");
  for (char letter = 'a'; letter <= 'z'; ++letter) names.emplace_back(1, letter);
  return names;
}

}  // namespace qkv::training
