// Induction: a block of letters comes a second time, and what followed a letter then follows it again.
#include <numeric>

#include "train/tasks/generated_task.h"

namespace qkv::train {
namespace {

constexpr std::int32_t kFirstLetter = 1;
constexpr std::int64_t kShortestBlock = 4;
constexpr std::int64_t kLongestBlock = 8;

class InductionTask final : public GeneratedTask {
 public:
  InductionTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

 private:
  // The block's letters are all different and occur in the block only, so each has one place to look at. How far apart
  // the two are is drawn anew each time: no position tells.
  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    const std::int64_t total = lengths().tokens;
    const std::int64_t block = random.between(kShortestBlock, kLongestBlock);
    const std::int64_t first = random.between(0, total - 2 * block);
    const std::int64_t second = random.between(first + block, total - block);
    std::vector<std::int32_t> alphabet(26);
    std::iota(alphabet.begin(), alphabet.end(), kFirstLetter);
    random.shuffle(alphabet);
    const std::span<const std::int32_t> all(alphabet);
    const auto others = all.subspan(static_cast<std::size_t>(block));
    std::vector<std::int32_t> tokens;
    for (std::int64_t p = 0; p < total; ++p) {
      const bool in_first = p >= first && p < first + block;
      const bool in_second = p >= second && p < second + block;
      const std::int64_t place = in_first ? p - first : p - second;
      tokens.push_back(in_first || in_second ? all[static_cast<std::size_t>(place)] : random.pick(others));
    }
    TaskExample example = blank_example(tokens, 2);
    for (std::int64_t i = 0; i + 1 < block; ++i) {
      ask(example, second + i, all[static_cast<std::size_t>(i) + 1]);
      example.patterns[0].push_back({second + i, {first + i + 1}});
      example.patterns[1].push_back({first + i + 1, {first + i}});
    }
    return {std::move(example), std::move(tokens)};
  }
};

std::unique_ptr<const Task> make(const TaskInfo& info, const TaskOptions& options) {
  const TaskVocabulary vocabulary(letters_after({}), TextForm::letters);
  return std::make_unique<InductionTask>(
      TaskParts{info,
                {.tokens = length_of(info, options)},
                {{"induction", AttentionSite::tokens, "a letter of the second block to what followed it in the first"},
                 {"previous", AttentionSite::tokens,
                  "in the first block, a letter to the one before it: the layer below induction"}},
                vocabulary,
                vocabulary},
      options.seed);
}

}  // namespace

TaskMaker induction_task() {
  return {{.name = "induction",
           .description = "A block of letters comes twice: say what follows (A B … A -> B)",
           .kind = TaskKind::decoder,
           .accuracy = 0.99,
           .length = TaskInfo::Length{.unit = "letters", .usual = 24, .least = 20, .most = 4096}},
          make};
}

}  // namespace qkv::train
