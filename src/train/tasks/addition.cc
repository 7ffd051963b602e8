// Addition of two numbers of equally many digits; the sum is written from the ones up.
#include <algorithm>

#include "train/tasks/generated_task.h"

namespace qkv::training {
namespace {

constexpr std::int32_t kFirstDigit = 1;
constexpr std::int32_t kPlus = 11;
constexpr std::int32_t kEquals = 12;

class AdditionTask final : public GeneratedTask {
 public:
  AdditionTask(TaskParts parts, std::uint64_t seed, std::int64_t digits)
      : GeneratedTask(std::move(parts), seed), digits_(digits) {}

  void mark(Example& example) const override {
    const std::vector<std::int32_t>& tokens = example.tokens;
    const auto plus = std::ranges::find(tokens, kPlus) - tokens.begin();
    const auto equals = std::ranges::find(tokens, kEquals) - tokens.begin();
    if (plus == 0 || equals != 2 * plus + 1 || equals >= std::ssize(tokens)) return;
    const auto is_sign = [](std::int32_t token) { return token >= kPlus; };
    if (std::count_if(tokens.begin(), tokens.begin() + equals, is_sign) == 1) mark_sum(example, plus);
  }

  // Also of numbers for which mark() knows no places: the sum is asked from "=" on.
  [[nodiscard]] std::vector<bool> asked(const Example& example) const override {
    const auto equals = std::ranges::find(example.tokens, kEquals) - example.tokens.begin();
    std::vector<bool> places(example.tokens.size());
    std::fill(places.begin() + equals, places.end(), true);
    return places;
  }

  [[nodiscard]] std::vector<std::string> outside(const Example& example) const override {
    const std::string text = vocabulary().decode(example.tokens);
    const std::size_t plus = text.find('+');
    const std::size_t equals = text.find('=');
    const bool is_sum = plus != std::string::npos && equals != std::string::npos && plus > 0 && plus + 1 < equals &&
                        text.find_first_not_of("0123456789") == plus &&
                        text.find_first_not_of("0123456789", plus + 1) == equals;
    if (!is_sum) return {"it learned from sums such as " + sum_text("12", "34")};
    const std::string a = text.substr(0, plus);
    const std::string b = text.substr(plus + 1, equals - plus - 1);
    const auto digits = static_cast<std::size_t>(digits_);
    if (a.size() == digits && b.size() == digits) return {};
    const bool fits = a.size() <= digits && b.size() <= digits;
    return {"it learned to add numbers of " + std::to_string(digits_) + " digits; these have " +
            std::to_string(a.size()) + " and " + std::to_string(b.size()) +
            (fits ? ": write " + sum_text(a, b) : std::string())};
  }

  [[nodiscard]] std::string answer_text(std::vector<std::int32_t> answer) const override {
    std::string written = GeneratedTask::answer_text(std::move(answer));
    if (written.empty() || written.find_first_not_of("0123456789") != std::string::npos) return written;
    std::string sum(written.rbegin(), written.rend());
    sum.erase(0, std::min(sum.find_first_not_of('0'), sum.size() - 1));
    return sum + " (written from the ones up: " + written + ")";
  }

 private:
  // Both numbers with zeros before them.
  [[nodiscard]] std::string sum_text(const std::string& a, const std::string& b) const {
    const auto padded = [this](const std::string& number) {
      const auto width = std::max(static_cast<std::size_t>(digits_), number.size());
      return std::string(width - number.size(), '0') + number;
    };
    return padded(a) + "+" + padded(b) + "=";
  }

  // Tokens: a from its highest digit down, "+", b likewise, "=", the sum from the ones up but for its last digit.
  [[nodiscard]] Draft draft(TaskRandom& random) const override {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(2 * digits_ + 2));
    std::ranges::generate(tokens, [&] { return kFirstDigit + static_cast<std::int32_t>(random.below(10)); });
    tokens[static_cast<std::size_t>(digits_)] = kPlus;
    tokens.back() = kEquals;
    const std::vector<std::int32_t> content = tokens;
    const std::vector<std::int32_t> sum = sum_of(tokens, digits_);
    tokens.insert(tokens.end(), sum.begin(), sum.end() - 1);
    Example example = blank_example(std::move(tokens), 2);
    mark_sum(example, digits_);
    return {std::move(example), content};
  }

  // From the ones up, one digit more than the numbers have.
  static std::vector<std::int32_t> sum_of(const std::vector<std::int32_t>& tokens, std::int64_t digits) {
    std::vector<std::int32_t> sum;
    std::int32_t carry = 0;
    for (std::int64_t k = 0; k < digits; ++k) {
      carry += tokens[static_cast<std::size_t>(a_place(k, digits))] +
               tokens[static_cast<std::size_t>(b_place(k, digits))] - 2 * kFirstDigit;
      sum.push_back(kFirstDigit + carry % 10);
      carry /= 10;
    }
    sum.push_back(kFirstDigit + carry);
    return sum;
  }

  // As many digits of the sum as the tokens leave queries for.
  static void mark_sum(Example& example, std::int64_t digits) {
    clear_marks(example, 2);
    const std::vector<std::int32_t> sum = sum_of(example.tokens, digits);
    for (std::int64_t k = 0; k <= digits; ++k) {
      const std::int64_t query = 2 * digits + 1 + k;
      if (query >= std::ssize(example.tokens)) return;
      ask(example, query, sum[static_cast<std::size_t>(k)]);
      if (k < digits) example.patterns[0].push_back({query, {a_place(k, digits), b_place(k, digits)}});
      if (k > 0) example.patterns[1].push_back({query, {a_place(k - 1, digits), b_place(k - 1, digits), query}});
    }
  }

  // Where the digit of weight 10^k of each number stands.
  static std::int64_t a_place(std::int64_t k, std::int64_t digits) { return digits - 1 - k; }
  static std::int64_t b_place(std::int64_t k, std::int64_t digits) { return 2 * digits - k; }

  std::int64_t digits_;
};

std::unique_ptr<const Task> make_addition(const TaskInfo& info, const TaskOptions& options) {
  const Vocabulary vocabulary({"<pad>", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "="}, TextForm::letters);
  const std::int64_t digits = length_of(info, options);
  return std::make_unique<AdditionTask>(
      TaskParts{info,
                {.tokens = 3 * digits + 2},
                {{"addends", AttentionSite::tokens, "a query to the two digits of the place that it predicts"},
                 {"carry", AttentionSite::tokens,
                  "a query to the place before, both digits and the sum's: whether it carried"}},
                vocabulary,
                vocabulary},
      options.seed, digits);
}

}  // namespace

TaskMaker addition_task() {
  return {{.name = "addition",
           .description = "Add two numbers; the sum is written from the ones up",
           .kind = TaskKind::decoder,
           .accuracy = 0.99,
           .length = TaskInfo::Length{.unit = "digits a number", .usual = 4, .least = 1, .most = 256}},
          make_addition};
}

}  // namespace qkv::training
