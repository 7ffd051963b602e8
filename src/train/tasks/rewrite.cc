// Copy, reverse and sort: the encoder reads letters, the decoder writes them in another order.
#include <algorithm>
#include <numeric>

#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

enum class Order : std::uint8_t { same, reversed, sorted };

constexpr std::int32_t kBegin = 1;
constexpr std::int32_t kEnd = 2;
constexpr std::int32_t kFirstRewritten = 3;
constexpr std::uint32_t kLetters = 26;

class RewriteTask final : public GeneratedTask {
 public:
  RewriteTask(TaskParts parts, std::uint64_t seed, Order order, std::int64_t longest)
      : GeneratedTask(std::move(parts), seed), order_(order), longest_(longest) {}

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    std::vector<std::int32_t> letters = example.source;
    std::erase(letters, kEnd);
    std::vector<std::string> all =
        outside_lengths("letters", static_cast<std::int64_t>(letters.size()), shortest(), longest_);
    std::ranges::sort(letters);
    const auto twice = std::ranges::adjacent_find(letters);
    if (order_ == Order::sorted && twice != letters.end()) {
      all.push_back("it learned from letters that are all different; " + vocabulary().piece(*twice) +
                    " comes more than once");
    }
    return all;
  }

  // Of a letter that comes twice, sorting does not say which of its places is which.
  void mark(Example& example) const override {
    std::vector<std::int32_t> letters = example.source;
    if (!letters.empty() && letters.back() == kEnd) letters.pop_back();
    std::vector<std::int32_t> sorted = letters;
    std::ranges::sort(sorted);
    if (sorted.empty() || sorted.front() < kFirstRewritten) return;
    if (order_ == Order::sorted && std::ranges::adjacent_find(sorted) != sorted.end()) return;
    mark_letters(example, letters, places(letters));
  }

 private:
  [[nodiscard]] std::int64_t shortest() const { return (longest_ + 1) / 2; }

  // As many of the letters as the tokens leave queries for; `from`: the place of each in the source.
  static void mark_letters(Example& example, const std::vector<std::int32_t>& letters,
                           const std::vector<std::int64_t>& from) {
    clear_marks(example, 1);
    const std::size_t written = std::min(from.size(), example.tokens.size());
    for (std::size_t p = 0; p < written; ++p) {
      ask(example, static_cast<std::int64_t>(p), letters[static_cast<std::size_t>(from[p])]);
      example.patterns[0].push_back({static_cast<std::int64_t>(p), {from[p]}});
    }
    if (example.tokens.size() > from.size()) ask(example, static_cast<std::int64_t>(from.size()), kEnd);
  }

  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    const std::vector<std::int32_t> letters = draw(random);
    const std::vector<std::int64_t> from = places(letters);
    std::vector<std::int32_t> tokens = {kBegin};
    for (const std::int64_t place : from) tokens.push_back(letters[static_cast<std::size_t>(place)]);
    Example example = blank_example(std::move(tokens), 1);
    mark_letters(example, letters, from);
    example.source = letters;
    example.source.push_back(kEnd);
    return {std::move(example), letters};
  }

  [[nodiscard]] std::vector<std::int32_t> draw(TaskRandom& random) const {
    const auto count = static_cast<std::size_t>(random.between(shortest(), longest_));
    std::vector<std::int32_t> letters(order_ == Order::sorted ? kLetters : count);
    if (order_ == Order::sorted) {  // each letter once at most, so that each place has one right letter
      std::iota(letters.begin(), letters.end(), kFirstRewritten);
      random.shuffle(letters);
      letters.resize(count);
      return letters;
    }
    for (std::int32_t& letter : letters) letter = kFirstRewritten + static_cast<std::int32_t>(random.below(kLetters));
    return letters;
  }

  // Where in the source each letter of the answer stands.
  [[nodiscard]] std::vector<std::int64_t> places(const std::vector<std::int32_t>& letters) const {
    std::vector<std::int64_t> from(letters.size());
    std::iota(from.begin(), from.end(), 0);
    if (order_ == Order::reversed) std::ranges::reverse(from);
    if (order_ == Order::sorted) {
      std::ranges::sort(from, {}, [&](std::int64_t place) { return letters[static_cast<std::size_t>(place)]; });
    }
    return from;
  }

  Order order_;
  std::int64_t longest_;
};

template <Order order>
std::unique_ptr<const Task> make(const TaskInfo& info, const TaskOptions& options) {
  static const Relation kRelations[] = {
      {"diagonal", AttentionSite::cross, "query p, which predicts letter p, to place p of the source"},
      {"anti-diagonal", AttentionSite::cross, "query p, which predicts letter p, to place T - 1 - p of T letters"},
      {"rank", AttentionSite::cross, "query p, which predicts letter p, to the place of the p-th smallest letter"}};
  const std::int64_t longest = length_of(info, options);
  const Vocabulary vocabulary(letters_after({"<s>", "</s>"}), TextForm::letters);
  return std::make_unique<RewriteTask>(TaskParts{info,
                                                 {.tokens = longest + 1, .source = longest + 1},
                                                 {kRelations[static_cast<std::size_t>(order)]},
                                                 vocabulary,
                                                 vocabulary},
                                       options.seed, order, longest);
}

TaskInfo info_of(std::string name, std::string description, std::int64_t most) {
  return {.name = std::move(name),
          .description = std::move(description),
          .kind = TaskKind::encoder_decoder,
          .accuracy = 0.99,
          .length = TaskInfo::Length{.unit = "letters", .usual = 12, .least = 2, .most = most}};
}

}  // namespace

TaskMaker copy_task() { return {info_of("copy", "Write the letters again", 1024), make<Order::same>}; }
TaskMaker reverse_task() {
  return {info_of("reverse", "Write the letters from the last to the first", 1024), make<Order::reversed>};
}
TaskMaker sort_task() {
  return {info_of("sort", "Write the letters, each one different, in alphabetical order", kLetters),
          make<Order::sorted>};
}

}  // namespace qkv::training
