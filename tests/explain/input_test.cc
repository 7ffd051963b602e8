// What may be explained, and what is said where it may not.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/explain.h"

namespace qkv::input_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ExplainOptions options_for(std::string text) {
  ExplainOptions options;
  options.text = std::move(text);
  options.whys = false;
  return options;
}

std::string refusal(const ExplainOptions& options) {
  return error_message([&] { (void)explain(options); });
}

TEST(ExplainInput, WordsArePartedByAnyWhiteSpace) {
  EXPECT_THAT(explain(options_for("\tThe\u00A0cat\n sat\u3000 ")).tokens, ElementsAre("The", "cat", "sat"));
}

TEST(ExplainInput, RepeatedWordsShareAnEmbedding) {
  const Explanation explanation = explain(options_for("the cat and the dog"));
  EXPECT_EQ(explanation.tensor("embedding_table").dim(0), 4);
  for (std::int64_t d = 0; d < 8; ++d) {
    EXPECT_EQ(explanation.tensor("embeddings").at({0, d}), explanation.tensor("embeddings").at({3, d}));
  }
}

TEST(ExplainInput, OneWordIsAText) {
  const Explanation explanation = explain(options_for("cat"));
  EXPECT_EQ(explanation.tensor("weights").at({0, 0, 0}), 1.0);
}

TEST(ExplainInput, RefusesTextsWithoutWords) {
  EXPECT_EQ(refusal(options_for("")), "explain: text: expected at least one word, got an empty text");
  EXPECT_THAT(refusal(options_for(" \n ")), HasSubstr("nothing but white space"));
}

TEST(ExplainInput, NamesTheByteThatIsNotUtf8) {
  EXPECT_THAT(refusal(options_for("The c\xFFt")), HasSubstr("expected UTF-8, got the byte 0xFF at position 5"));
}

TEST(ExplainInput, RefusesTextsTooLongToShow) {
  std::string text;
  for (std::int64_t i = 0; i <= kExplainTokens; ++i) text += "a ";
  EXPECT_THAT(refusal(options_for(text)), HasSubstr("at most 4096 words, because every step's T × T matrix is kept"));
}

TEST(ExplainInput, NamesTheOptionAtFault) {
  ExplainOptions options = options_for("The cat");
  options.heads = 3;
  EXPECT_THAT(refusal(options), HasSubstr("heads: expected a divisor of `d_model` = 8"));
  options.d_k = 3;
  options.position = Positions::rotary;
  EXPECT_THAT(refusal(options), HasSubstr("d_k: expected an even width"));
  options = options_for("The cat");
  options.d_model = 0;
  EXPECT_THAT(refusal(options), HasSubstr("d_model: expected 1 to 4096, got 0"));
  options = options_for("The cat");
  options.context = "";
  EXPECT_THAT(refusal(options), HasSubstr("context: expected at least one word"));
}

TEST(ExplainInput, FindsTheQueryByWordAndByIndex) {
  ExplainOptions options = options_for("the cat and the dog");
  options.query = "the";
  const Explanation explanation = explain(options);
  EXPECT_THAT(explanation.query->title, HasSubstr("“the” (position 0)"));
  EXPECT_THAT(explanation.query->notes,
              testing::Contains(HasSubstr("“the” occurs 2 times; this is the@0. Others: the@3.")));
  options.query = "3";
  EXPECT_THAT(explain(options).query->title, HasSubstr("“the” (position 3)"));
  EXPECT_THAT(explain(options).query->tables.front().title, HasSubstr("“the@3” asks each key"));
  options.query = "the@3";
  EXPECT_THAT(explain(options).query->title, HasSubstr("“the” (position 3)"));
  for (const char* wrong : {"cat@3", "the@5", "the@"}) {
    options.query = wrong;
    EXPECT_THAT(refusal(options), HasSubstr(std::string("got \"") + wrong));
  }
  options.query = "mouse";
  EXPECT_THAT(refusal(options), HasSubstr("0 the, 1 cat, 2 and, 3 the, 4 dog, got \"mouse\""));
}

TEST(ExplainInput, OwnTensorsMustFitTogether) {
  ExplainOptions options;
  options.whys = false;
  options.own = OwnTensors{Tensor(DType::f32, {3, 4}), Tensor(DType::f32, {3, 5}), Tensor(DType::f32, {3, 4})};
  EXPECT_THAT(refusal(options), HasSubstr("k: expected"));
  options.own->k = Tensor(DType::i64, {3, 4});
  EXPECT_THAT(refusal(options), HasSubstr("k: expected a floating tensor [T, D], [H, T, D] or [B, H, T, D], got i64"));
  options.own->k = Tensor(DType::f32, {3, 4});
  options.text = "two words";
  EXPECT_THAT(refusal(options), HasSubstr("text: expected 3 words to name the 3 rows"));
}

TEST(ExplainInput, StepsAreChosenByNumberRangeAndId) {
  const auto kept = [](std::string_view selector) {
    Explanation explanation = explain(options_for("The cat"));
    keep_steps(explanation, selector);
    std::vector<int> numbers;
    for (const Section& step : explanation.steps) numbers.push_back(step.number);
    return numbers;
  };
  EXPECT_THAT(kept("3"), ElementsAre(3));
  EXPECT_THAT(kept("2-4,softmax"), ElementsAre(2, 3, 4, 12));
  EXPECT_THAT(error_message([&] { (void)kept("99"); }), HasSubstr("12 softmax"));
}

TEST(ExplainInput, StepsThatAreChosenAreMadeAlone) {
  ExplainOptions options = options_for("The cat");
  Explanation whole = explain(options);
  options.only_steps = "2-4,softmax";
  const Explanation chosen = explain(options);
  keep_steps(whole, options.only_steps);
  EXPECT_EQ(to_text(chosen, {}), to_text(whole, {}));
  options.only_steps = "99";
  EXPECT_THAT(refusal(options), HasSubstr("step: expected one or several of 1 tokens"));
}

}  // namespace
}  // namespace qkv::input_test
