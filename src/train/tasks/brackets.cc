// Brackets of three kinds, where closing ones are written "?": say which kind each one is.
#include <algorithm>

#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

constexpr std::int32_t kFirstOpen = 1;   // ( [ {
constexpr std::int32_t kFirstClose = 4;  // ) ] }
constexpr std::int32_t kClosing = 7;     // ?
constexpr std::size_t kDeepest = 5;

class BracketsTask final : public GeneratedTask {
 public:
  BracketsTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

  void mark(Example& example) const override {
    clear_marks(example, 1);
    std::vector<std::int64_t> open;
    for (std::size_t p = 0; p < example.tokens.size(); ++p) {
      const std::int32_t token = example.tokens[p];
      if (is_open(token)) open.push_back(static_cast<std::int64_t>(p));
      if (is_open(token) || open.empty()) continue;
      if (token == kClosing) {
        const std::int32_t opened = example.tokens[static_cast<std::size_t>(open.back())];
        ask(example, static_cast<std::int64_t>(p), opened + (kFirstClose - kFirstOpen));
        example.patterns[0].push_back({static_cast<std::int64_t>(p), {open.back()}});
      }
      open.pop_back();
    }
  }

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    const auto count = static_cast<std::int64_t>(example.tokens.size());
    std::vector<std::string> all = outside_lengths("brackets", count, 2 * fewest_pairs(), lengths().tokens);
    const auto closed = std::ranges::find_if(
        example.tokens, [](std::int32_t token) { return token >= kFirstClose && token < kClosing; });
    if (closed != example.tokens.end()) {
      all.push_back("it learned from closing brackets that are all written ?; this text has " +
                    vocabulary().piece(*closed));
    }
    std::size_t open = 0;
    std::size_t deepest = 0;
    std::size_t unopened = 0;
    for (const std::int32_t token : example.tokens) {
      if (is_open(token)) {
        deepest = std::max(deepest, ++open);
      } else if (open > 0) {
        --open;
      } else {
        ++unopened;
      }
    }
    if (open > 0) {
      all.push_back("it learned from brackets that are all closed; " + std::to_string(open) +
                    (open == 1 ? " stays open" : " stay open"));
    }
    if (unopened > 0) {
      all.push_back("it learned from closing brackets that each have an opening one; " + std::to_string(unopened) +
                    (unopened == 1 ? " has none" : " have none"));
    }
    if (deepest > kDeepest) {
      all.push_back("it learned from brackets at most " + std::to_string(kDeepest) + " deep; these are " +
                    std::to_string(deepest) + " deep");
    }
    return all;
  }

 private:
  [[nodiscard]] static bool is_open(std::int32_t token) { return token >= kFirstOpen && token < kFirstClose; }
  [[nodiscard]] std::int64_t most_pairs() const { return lengths().tokens / 2; }
  [[nodiscard]] std::int64_t fewest_pairs() const { return (most_pairs() + 1) / 2; }

  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    const std::int64_t total = 2 * random.between(fewest_pairs(), most_pairs());
    std::vector<std::int32_t> tokens;
    std::size_t open = 0;
    for (std::int64_t p = 0; p < total; ++p) {
      const bool must_close = static_cast<std::int64_t>(open) == total - p || open == kDeepest;
      const bool opens = open == 0 || (!must_close && random.percent(50));
      tokens.push_back(opens ? kFirstOpen + static_cast<std::int32_t>(random.below(3)) : kClosing);
      opens ? ++open : --open;
    }
    Example example = blank_example(tokens, 1);
    mark(example);
    return {std::move(example), std::move(tokens)};
  }
};

std::unique_ptr<const Task> make_brackets(const TaskInfo& info, const TaskOptions& options) {
  const Vocabulary vocabulary({"<pad>", "(", "[", "{", ")", "]", "}", "?"}, TextForm::letters);
  const std::int64_t even = length_of(info, options) / 2 * 2;
  return std::make_unique<BracketsTask>(
      TaskParts{info,
                {.tokens = even},
                {{"match", AttentionSite::tokens, "a closing bracket, written ?, to the one that opened it"}},
                vocabulary,
                vocabulary},
      options.seed);
}

}  // namespace

TaskMaker brackets_task() {
  return {{.name = "brackets",
           .description = "Closing brackets are hidden: say of each whether it is ) ] or }",
           .kind = TaskKind::encoder,
           .accuracy = 0.99,
           .length =
               TaskInfo::Length{.unit = "brackets (of an odd number one less)", .usual = 20, .least = 8, .most = 4096}},
          make_brackets};
}

}  // namespace qkv::training
