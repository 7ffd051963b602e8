// A text too long for its matrices is explained from the same numbers: some rows in full, means and statistics.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/error_message.h"
#include "insight/counted_bytes.h"
#include "nn/passes.h"
#include "qkv/autograd/softmax.h"
#include "qkv/autograd/variable.h"
#include "qkv/explain/model.h"
#include "qkv/nn/trace.h"
#include "qkv/text/vocabulary.h"
#include "train/boxed.h"

namespace qkv::long_text_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;
using testing::StartsWith;

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kBlock = 9;  // of 1,100 tokens in 128 cells, and the tokens of a block
constexpr std::int64_t kTokens = 1100;

const TextModel& model() {
  static const TextModel kModel = [] {
    const auto tokens =
        std::shared_ptr<const Tokenizer>(&tests::boxed("induction").tokenizer(), [](const Tokenizer*) {});
    Generator generator(5);
    return TextModel(
        Model(Decoder({.vocabulary = tokens->size(), .d_model = 32, .heads = 8}, generator), {.tokens = tokens}),
        "long");
  }();
  return kModel;
}

TextModel model_of_words() {
  const auto tokens = std::make_shared<Vocabulary>(std::vector<std::string>{"<pad>", "a", "7", "63"}, TextForm::words);
  Generator generator(8);  // says "7" after sevens alone
  const Decoder decoder({.vocabulary = tokens->size(), .d_model = 16, .heads = 2, .positions = Positions::rotary},
                        generator);
  return TextModel(Model(decoder, {.tokens = tokens}), "words");
}

std::string text_of(std::int64_t tokens) {
  std::string text;
  for (std::int64_t n = 0; n < tokens; ++n) text += static_cast<char>('a' + (n * n + 3 * n) % 7);
  return text;
}

const Section& step(const Explanation& explanation, const std::string& id) {
  const auto found = std::ranges::find(explanation.steps, id, &Section::id);
  if (found == explanation.steps.end()) throw Error("no step " + id);
  return *found;
}

// What the whole pass gives, which may be kept of a small model.
struct Whole {
  Trace trace = Trace(std::vector<std::string>{"blocks.*.attn.weights", "logits"});
  std::vector<std::int64_t> ids;

  explicit Whole(const std::string& text) {
    for (const std::int32_t id : model().example_of(text).tokens) ids.push_back(id);
    model().model().run({.ids = Tensor(ids, {1, std::ssize(ids)})}, trace);
  }
};

TEST(LongTextExplained, DrawsMeansOfTheWholeMatricesOfAllHeads) {
  const Whole whole(text_of(kTokens));
  ASSERT_EQ(std::ssize(whole.ids), kTokens);
  const Explanation explanation = explain_model(model(), {.text = text_of(kTokens)});
  const Section& heads = step(explanation, "heads-tokens");
  ASSERT_EQ(heads.heatmaps.size(), 16U);
  EXPECT_THAT(heads.shape, HasSubstr("[H, Tq, Tk] = [8, 1100, 1100]"));
  const Tensor weights = whole.trace["blocks.1.attn.weights"];
  const NamedHeatmap& map = heads.heatmaps[8 + 3];  // layer 1, head 3
  EXPECT_THAT(map.heatmap.title, HasSubstr("layer 1, head 3 (each cell the mean of 9 × 9)"));
  EXPECT_TRUE(map.whole.empty());
  for (const auto& [row, column] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {5, 2}, {70, 70}, {122, 1}}) {
    double sum = 0;
    std::int64_t pairs = 0;
    for (std::int64_t i = row * kBlock; i < std::min((row + 1) * kBlock, kTokens); ++i) {
      for (std::int64_t j = column * kBlock; j < std::min((column + 1) * kBlock, kTokens); ++j, ++pairs) {
        sum += weights.at({0, 3, i, j});
      }
    }
    EXPECT_NEAR(map.heatmap.values.at({row, column}), sum / static_cast<double>(pairs), 1e-6) << row << ", " << column;
  }
}

TEST(LongTextExplained, ShowsTheLastRowsInFull) {
  const Whole whole(text_of(kTokens));
  const Explanation explanation =
      explain_model(model(), {.title = "m", .text = text_of(kTokens), .layer = 0, .head = 5});
  EXPECT_EQ(std::ssize(explanation.tokens), kRows);
  EXPECT_EQ(std::ssize(explanation.keys), kTokens);
  EXPECT_THAT(
      explanation.notes,
      Contains(StartsWith("a long text, of 1100 tokens: steps show 64 of its queries, 1036 to 1099, over all")));
  const Tensor& shown = explanation.tensor("weights");
  ASSERT_EQ(shown.shape(), Shape({8, kRows, kTokens}));
  const Tensor weights = whole.trace["blocks.0.attn.weights"];
  const Tensor probabilities =
      Tensor(softmax(Variable(Tensor(whole.trace["logits"].view().select(0, 0), DType::f64)), -1).value());
  const Table& says = step(explanation, "says").tables.front();
  ASSERT_EQ(std::ssize(says.rows), kRows);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::int64_t place = kTokens - kRows + i;
    for (std::int64_t j = 0; j < kTokens; ++j) {
      ASSERT_NEAR(shown.at({5, i, j}), weights.at({0, 5, place, j}), 1e-6) << i << ", " << j;
    }
    const std::vector<double> row = probabilities.view().select(0, place).to_vector();
    EXPECT_EQ(says.rows[static_cast<std::size_t>(i)][0].text, std::to_string(place));
    EXPECT_NEAR(*says.rows[static_cast<std::size_t>(i)][3].number, std::ranges::max(row), 1e-4);
  }
  EXPECT_THAT(step(explanation, "answer").title, HasSubstr("The answer at 1099"));
}

// The parts of the answer's logit add up to it, as those of a short text.
TEST(LongTextExplained, AddsUpTheLogitOfTheQueryThatIsAsked) {
  const Explanation explanation = explain_model(model(), {.text = text_of(kTokens), .query = "700"});
  EXPECT_THAT(explanation.notes, Contains(HasSubstr("637 to 700")));
  EXPECT_EQ(explanation.asked, kRows - 1);
  EXPECT_THAT(step(explanation, "answer").title, HasSubstr("The answer at 700"));
  const std::vector<std::vector<Cell>>& rest = step(explanation, "parts").tables.back().rows;
  EXPECT_NEAR(*rest[3][1].number, *rest[4][1].number, 2e-3);
  const Explanation first = explain_model(model(), {.text = text_of(kTokens), .query = "5"});
  EXPECT_THAT(first.notes, Contains(HasSubstr("0 to 63")));
  EXPECT_EQ(first.asked, 5);
}

TEST(LongTextExplained, WritesOutTheQueryByItsPlaceInTheText) {
  const Explanation explanation = explain_model(model(), {.text = text_of(kTokens), .query = "700"});
  ASSERT_TRUE(explanation.query);
  EXPECT_THAT(explanation.query->title, HasSubstr("(position 700), written out"));
  const std::string name = explanation.tokens.back() + "@700";
  EXPECT_THAT(explanation.query->tables.front().title, HasSubstr("“" + name + "” asks each key"));
}

// "63" is a token of this text, and the place of "7" among the rows that are shown.
TEST(LongTextExplained, ShowsTheTokenThatIsAskedWhereAnIndexIsAlsoAWord) {
  const TextModel numbers = model_of_words();
  std::string text;
  for (std::int64_t n = 0; n < kTokens; ++n) text += n == 820 ? "63 " : n == 850 ? "7 " : "a ";
  const Explanation explanation = explain_model(numbers, {.text = text, .query = "7"});
  EXPECT_EQ(explanation.tokens.at(static_cast<std::size_t>(explanation.asked)), "7");
  EXPECT_THAT(explanation.query.value().title, HasSubstr("“7” (position 850)"));
  EXPECT_THAT(explanation.notes, testing::Not(Contains(HasSubstr("occurs"))));
  const Explanation many = explain_model(numbers, {.text = text, .query = "a"});
  EXPECT_THAT(many.notes, Contains("“a” occurs 1098 times in the text; this is a@0."));
}

// Not what comes after the rows that are shown, where these end before the text does.
TEST(LongTextExplained, SaysWhatComesAfterTheWholeText) {
  const TextModel words = model_of_words();
  std::string text;
  for (std::int64_t n = 0; n < kTokens; ++n) text += n < kRows ? "7 " : "a ";
  const Explanation whole = explain_model(words, {.text = text});
  const Explanation part = explain_model(words, {.text = text, .query = "63"});
  const auto last_of = [](const Explanation& explanation) {
    return "says next: " + step(explanation, "says").tables.front().rows.back()[2].text;
  };
  EXPECT_THAT(whole.notes, Contains(last_of(whole)));
  EXPECT_THAT(part.notes, Contains(last_of(whole)));
  EXPECT_NE(last_of(part), last_of(whole));
}

// Patterns and spreads of all heads, by the rows that are read.
TEST(LongTextExplained, GivesEachHeadItsStatistics) {
  const Whole whole(text_of(kTokens));
  const Explanation explanation = explain_model(model(), {.text = text_of(kTokens)});
  const Section& overview = step(explanation, "overview");
  ASSERT_EQ(overview.tables.front().rows.size(), 16U);
  EXPECT_THAT(overview.notes,
              ElementsAre("Statistics of this long text use one query in 2; the maps use all of them."));
  const Tensor weights = whole.trace["blocks.0.attn.weights"];
  double largest = 0;
  for (std::int64_t i = 0; i < kTokens; i += 2) {
    largest += std::ranges::max(weights.view().select(0, 0).select(0, 2).select(0, i).to_vector());
  }
  EXPECT_NEAR(*overview.tables.front().rows[2][4].number, largest / (kTokens / 2), 0.006);
}

TEST(LongTextExplained, TakesOnePassAndKeepsNoMatrix) {
  constexpr std::int64_t kLong = 2048;
  const std::string text = text_of(kLong);
  const std::size_t matrices = sizeof(float) * 8 * kLong * kLong;  // of a layer: 128 MiB
  const std::int64_t before = passes_of_thread();
  EXPECT_THAT(testing_insight::most_bytes([&] { static_cast<void>(explain_model(model(), {.text = text})); }),
              Lt(matrices));
  EXPECT_EQ(passes_of_thread() - before, 1);
}

TEST(LongTextExplained, RefusesWhatIsTooLong) {
  EXPECT_THAT(error_message([] { static_cast<void>(explain_model(model(), {.text = text_of(40'000)})); }),
              HasSubstr("explain_model: text: expected at most 32768 tokens: the time of all heads grows with their "
                        "square, got 40000"));
  EXPECT_THAT(error_message([] { static_cast<void>(explain_model(model(), {.text = text_of(kTokens), .layer = 2})); }),
              HasSubstr("explain_model: layer: expected a layer from 0 to 1, got 2"));
}

// As of a short text, and before a pass that takes long.
TEST(LongTextExplained, RefusesAHeadThatThereIsNotBeforeItRuns) {
  const std::int64_t before = passes_of_thread();
  for (const std::int64_t tokens : {std::int64_t{20}, kTokens}) {
    const std::string text = text_of(tokens);
    const auto refusal = [&](ModelQuestion question) {
      question.text = text;
      return error_message([&] { static_cast<void>(explain_model(model(), question)); });
    };
    EXPECT_THAT(refusal({.layer = 9, .head = 0}),
                HasSubstr("explain_model: head: expected a layer from 0 to 1, got 9"));
    EXPECT_THAT(refusal({.layer = 1, .head = 8}), HasSubstr("explain_model: head: expected a head from 0 to 7, got 8"));
    EXPECT_THAT(refusal({.head = 1}), HasSubstr("explain_model: head: expected a layer beside it, got none"));
    EXPECT_THAT(refusal({.site = "cross"}), HasSubstr("explain_model: site: expected one of tokens, got cross"));
  }
  EXPECT_EQ(passes_of_thread() - before, 4);  // of the short text alone
}

TEST(LongTextExplained, SaysWhichTextsShowWhatRemovalDoes) {
  EXPECT_THAT(explain_model(model(), {.text = text_of(kTokens)}).notes,
              Contains("left out: what each head's removal does, which is shown for texts of up to 1024 tokens"));
}

}  // namespace
}  // namespace qkv::long_text_test
