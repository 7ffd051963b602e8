// What every built-in task is made of: its own generator, and attempts until an example is of the split asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/train/task.h"
#include "train/tasks/random.h"

namespace qkv::training {

/// An example, and the numbers that make it the same as another: two drafts of equal content never meet in both splits.
struct Draft {
  Example example;
  std::vector<std::int32_t> content;
};

struct TaskParts {
  TaskInfo info;
  TextLengths lengths;
  std::vector<Relation> relations;
  Vocabulary vocabulary;
  Vocabulary source_vocabulary;
};

class GeneratedTask : public Task {
 public:
  GeneratedTask(TaskParts parts, std::uint64_t seed) : parts_(std::move(parts)), seed_(seed) {}

  [[nodiscard]] const TaskInfo& info() const noexcept final { return parts_.info; }
  [[nodiscard]] const TextLengths& lengths() const noexcept final { return parts_.lengths; }
  [[nodiscard]] const std::vector<Relation>& relations() const noexcept final { return parts_.relations; }
  [[nodiscard]] const Tokenizer& vocabulary() const noexcept final { return parts_.vocabulary; }
  [[nodiscard]] const Tokenizer& source_vocabulary() const noexcept final { return parts_.source_vocabulary; }
  [[nodiscard]] Example example(Split split, std::int64_t n) const final;
  /// The places that have a label; all of a decoder that writes after a source or an image.
  [[nodiscard]] std::vector<bool> asked(const Example& example) const override;

 protected:
  [[nodiscard]] virtual Draft draft(TaskRandom& random) const = 0;

 private:
  TaskParts parts_;
  std::uint64_t seed_;
};

/// A hash of numbers or bytes: the finaliser of SplitMix64 (Steele et al. 2014) for each number, or for eight bytes.
[[nodiscard]] std::uint64_t hash_of(std::span<const std::int32_t> content) noexcept;
[[nodiscard]] std::uint64_t hash_of(std::span<const std::byte> content) noexcept;
/// One hash in eight is for the test.
[[nodiscard]] Split split_of_hash(std::uint64_t hash) noexcept;

/// The length asked for, or the usual one.
[[nodiscard]] inline std::int64_t length_of(const TaskInfo& info, const TaskOptions& options) {
  return options.length.value_or(info.length ? info.length->usual : 0);
}

/// An example of `tokens` with nothing asked anywhere and no rows of its `relations` relations.
[[nodiscard]] Example blank_example(std::vector<std::int32_t> tokens, std::size_t relations);
/// Asks for `label` at query p, and counts it.
void ask(Example& example, std::int64_t p, std::int32_t label);

/// Asks for nothing, with no rows of `relations` relations; tokens, source and image stay.
void clear_marks(Example& example, std::size_t relations);
/// "it learned from texts of 6 to 12 letters; this one has 5" as the only element; none if `count` is one of these.
[[nodiscard]] std::vector<std::string> outside_lengths(const std::string& unit, std::int64_t count, std::int64_t least,
                                                       std::int64_t most);

/// "<pad>", the names given, and "a" to "z".
[[nodiscard]] std::vector<std::string> letters_after(std::vector<std::string> names);

/// A row of the registry: what a task is, and how one is made of it. Options are those that make_task() checked.
struct TaskMaker {
  TaskInfo info;
  std::unique_ptr<const Task> (*make)(const TaskInfo& info, const TaskOptions& options);
};

[[nodiscard]] TaskMaker copy_task();
[[nodiscard]] TaskMaker reverse_task();
[[nodiscard]] TaskMaker sort_task();
[[nodiscard]] TaskMaker previous_task();
[[nodiscard]] TaskMaker induction_task();
[[nodiscard]] TaskMaker brackets_task();
[[nodiscard]] TaskMaker addition_task();
[[nodiscard]] TaskMaker english_task();
[[nodiscard]] TaskMaker translation_task();
[[nodiscard]] TaskMaker shapes_task();

}  // namespace qkv::training
