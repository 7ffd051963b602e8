// Previous token: each place answers with the letter before it.
#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

constexpr std::int32_t kFirstToken = 1;

class PreviousTask final : public GeneratedTask {
 public:
  PreviousTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

  void mark(Example& example) const override {
    clear_marks(example, 1);
    for (std::size_t p = 1; p < example.tokens.size(); ++p) {
      ask(example, static_cast<std::int64_t>(p), example.tokens[p - 1]);
      example.patterns[0].push_back({static_cast<std::int64_t>(p), {static_cast<std::int64_t>(p) - 1}});
    }
  }

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    return outside_lengths("letters", static_cast<std::int64_t>(example.tokens.size()), shortest(), lengths().tokens);
  }

 private:
  [[nodiscard]] std::int64_t shortest() const { return (lengths().tokens + 1) / 2; }

  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    std::vector<std::int32_t> letters(static_cast<std::size_t>(random.between(shortest(), lengths().tokens)));
    for (std::int32_t& letter : letters) letter = kFirstToken + static_cast<std::int32_t>(random.below(26));
    Example example = blank_example(letters, 1);
    mark(example);
    return {std::move(example), std::move(letters)};
  }
};

std::unique_ptr<const Task> make_previous(const TaskInfo& info, const TaskOptions& options) {
  const Vocabulary vocabulary(letters_after({}), TextForm::letters);
  return std::make_unique<PreviousTask>(
      TaskParts{info,
                {.tokens = length_of(info, options)},
                {{"previous", AttentionSite::tokens, "query p, from 1 on, to place p - 1"}},
                vocabulary,
                vocabulary},
      options.seed);
}

}  // namespace

TaskMaker previous_task() {
  return {{.name = "previous",
           .description = "At each place, say the letter before it",
           .kind = TaskKind::encoder,
           .accuracy = 0.99,
           .length = TaskInfo::Length{.unit = "letters", .usual = 24, .least = 4, .most = 4096}},
          make_previous};
}

}  // namespace qkv::training
