// Induction: pairs of letters come a second time, in another order, so that a letter tells what follows it.
#include <algorithm>
#include <numeric>

#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

constexpr std::int32_t kFirstLetter = 1;
constexpr std::int64_t kFewestPairs = 4;
constexpr std::int64_t kMostPairs = 8;

class InductionTask final : public GeneratedTask {
 public:
  InductionTask(TaskParts parts, std::uint64_t seed) : GeneratedTask(std::move(parts), seed) {}

  // A letter that was followed by the same one each time before, and is again, or ends the text.
  void mark(Example& example) const override {
    clear_marks(example, 2);
    const std::vector<std::int32_t>& tokens = example.tokens;
    std::vector<bool> is_follower(tokens.size());
    for (std::size_t p = 0; p < tokens.size(); ++p) {
      const std::vector<std::int64_t> followers = followers_before(tokens, p);
      if (followers.empty()) continue;
      const auto token_at = [&](std::int64_t place) { return tokens[static_cast<std::size_t>(place)]; };
      const std::int32_t follower = token_at(followers.front());
      const bool is_same = std::ranges::all_of(followers, [&](std::int64_t q) { return token_at(q) == follower; });
      if (!is_same || (p + 1 < tokens.size() && tokens[p + 1] != follower)) continue;
      point_back(example, static_cast<std::int64_t>(p), followers, follower);
      is_follower[static_cast<std::size_t>(followers.front())] = true;
    }
    for (std::size_t p = 0; p < tokens.size(); ++p) {
      if (is_follower[p]) point_to_previous(example, static_cast<std::int64_t>(p));
    }
  }

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    std::vector<std::string> all = GeneratedTask::outside(example);
    Example marked = example;
    mark(marked);
    if (marked.patterns[0].empty()) {
      all.emplace_back(
          "it learned from texts in which pairs of letters come again, such as ab in abcxyzab; in this one none does");
    }
    return all;
  }

 private:
  // Where what followed the letter at p stands, each time that it came before.
  static std::vector<std::int64_t> followers_before(const std::vector<std::int32_t>& tokens, std::size_t p) {
    std::vector<std::int64_t> places;
    for (std::size_t before = 0; before + 1 < p; ++before) {
      if (tokens[before] == tokens[p]) places.push_back(static_cast<std::int64_t>(before) + 1);
    }
    return places;
  }

  // The first letters of the pairs are all different and occur nowhere else, so each has one place to look at. Pairs
  // stand anywhere, each time anew, among letters that follow nothing in particular: neither the place, nor the
  // neighbours, nor the letter that follows tells where the first of a pair is.
  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    const std::int64_t total = lengths().tokens;
    const std::int64_t pairs = random.between(kFewestPairs, std::min(kMostPairs, total / 4));
    std::vector<std::int32_t> alphabet(26);
    std::iota(alphabet.begin(), alphabet.end(), kFirstLetter);
    random.shuffle(alphabet);
    const std::span<const std::int32_t> others = std::span(alphabet).subspan(static_cast<std::size_t>(pairs));
    std::vector<Pair> all;
    all.reserve(static_cast<std::size_t>(pairs));
    for (std::int64_t n = 0; n < pairs; ++n) {
      all.push_back({.letter = alphabet[static_cast<std::size_t>(n)], .follower = random.pick(others)});
    }
    Example example = blank_example(std::vector<std::int32_t>(static_cast<std::size_t>(total)), 2);
    std::vector<std::int32_t>& tokens = example.tokens;
    auto p = std::size_t{0};
    for (const std::int64_t item : order(random, pairs)) {
      if (item == pairs) {
        tokens[p++] = random.pick(others);
        continue;
      }
      Pair& pair = all[static_cast<std::size_t>(item)];
      tokens[p] = pair.letter;
      tokens[p + 1] = pair.follower;
      point(example, pair, static_cast<std::int64_t>(p));
      p += 2;
    }
    std::vector<std::int32_t> content = tokens;
    return {std::move(example), std::move(content)};
  }

  struct Pair {
    std::int32_t letter = 0;
    std::int32_t follower = 0;
    std::optional<std::int64_t> first = std::nullopt;  // where it came first
  };

  // The pairs twice, by their numbers, and `pairs` for each letter between them.
  [[nodiscard]] std::vector<std::int64_t> order(TaskRandom& random, std::int64_t pairs) const {
    std::vector<std::int64_t> items(static_cast<std::size_t>(lengths().tokens - 2 * pairs), pairs);
    for (std::int64_t n = 0; n < pairs; ++n) {
      items[static_cast<std::size_t>(2 * n)] = n;
      items[static_cast<std::size_t>(2 * n + 1)] = n;
    }
    random.shuffle(items);
    return items;
  }

  // A pair stands at p: its first time is looked at, its second one is asked.
  static void point(Example& example, Pair& pair, std::int64_t p) {
    if (!pair.first) {
      pair.first = p;
      point_to_previous(example, p + 1);
      return;
    }
    point_back(example, p, {*pair.first + 1}, pair.follower);
  }

  static void point_back(Example& example, std::int64_t p, std::vector<std::int64_t> keys, std::int32_t follower) {
    ask(example, p, follower);
    example.patterns[0].push_back({p, std::move(keys)});
  }

  static void point_to_previous(Example& example, std::int64_t follower) {
    example.patterns[1].push_back({follower, {follower - 1}});
  }
};

std::unique_ptr<const Task> make_induction(const TaskInfo& info, const TaskOptions& options) {
  const Vocabulary vocabulary(letters_after({}), TextForm::letters);
  return std::make_unique<InductionTask>(
      TaskParts{info,
                {.tokens = length_of(info, options)},
                {{"induction", AttentionSite::tokens,
                  "the letter of a pair, its second time, to what followed it the first time"},
                 {"previous", AttentionSite::tokens,
                  "in a pair, its first time, from the follower to the letter: the layer below"}},
                vocabulary,
                vocabulary},
      options.seed);
}

}  // namespace

TaskMaker induction_task() {
  return {{.name = "induction",
           .description = "Pairs of letters come twice: say what follows (A B … A -> B)",
           .kind = TaskKind::decoder,
           .accuracy = 0.99,
           .length = TaskInfo::Length{.unit = "letters", .usual = 32, .least = 20, .most = 4096}},
          make_induction};
}

}  // namespace qkv::training
