// Brackets of three kinds, where closing ones are written "?": say which kind each one is.
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

 private:
  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    const std::int64_t most = lengths().tokens / 2;
    const std::int64_t total = 2 * random.between((most + 1) / 2, most);
    std::vector<std::int32_t> kinds;  // the token at each place with nothing hidden
    std::vector<std::int64_t> open;
    std::vector<PatternRow> rows;
    for (std::int64_t p = 0; p < total; ++p) {
      const bool must_close = static_cast<std::int64_t>(open.size()) == total - p || open.size() == kDeepest;
      if (open.empty() || (!must_close && random.percent(50))) {
        open.push_back(p);
        kinds.push_back(kFirstOpen + static_cast<std::int32_t>(random.below(3)));
        continue;
      }
      kinds.push_back(kinds[static_cast<std::size_t>(open.back())] + (kFirstClose - kFirstOpen));
      rows.push_back({p, {open.back()}});
      open.pop_back();
    }
    std::vector<std::int32_t> tokens = kinds;
    for (const PatternRow& row : rows) tokens[static_cast<std::size_t>(row.query)] = kClosing;
    TaskExample example = blank_example(tokens, 1);
    for (const PatternRow& row : rows) ask(example, row.query, kinds[static_cast<std::size_t>(row.query)]);
    example.patterns[0] = std::move(rows);
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
           .length = TaskInfo::Length{.unit = "brackets, to an even number", .usual = 20, .least = 8, .most = 4096}},
          make_brackets};
}

}  // namespace qkv::training
