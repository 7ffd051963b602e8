#include "qkv/insight/compare_models.h"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <string>

#include "core/error_message.h"
#include "qkv/softmax.h"
#include "train/boxed.h"

namespace qkv::compare_models_test {
namespace {

using testing::HasSubstr;

constexpr const char* kText = "abcxyzabcxyz";

TextModel from_box(std::string_view name) { return {tests::boxed(name).model(), std::string(name)}; }

// The same with the weights of block 1 rounded to bf16.
TextModel rounded(const TextModel& model, const std::string& part = "blocks.1.") {
  Model other = model.model().to(DType::f32);
  for (const Parameter& parameter : other.parameters()) {
    if (parameter.name.find(part) == std::string::npos) continue;
    parameter.value.replace_value(Tensor(Tensor(parameter.value.value(), DType::bf16), DType::f32));
  }
  return {other, "rounded"};
}

Tensor log_probabilities(const TextModel& model, const std::vector<std::int64_t>& ids) {
  const NoGradient constant;
  const Tensor tensor(ids, {1, std::ssize(ids)});
  return log_softmax(Tensor(model.model().forward({.ids = tensor}).value().select(0, 0), DType::f64), -1);
}

TEST(CompareModels, FindsNothingBetweenAModelAndItself) {
  const TextModel model = from_box("induction");
  const ModelComparison found = compare_models(model, model, kText);
  EXPECT_EQ(found.tokens, 12);
  EXPECT_EQ(found.predicted, 11);
  EXPECT_EQ(found.divergence, 0);
  EXPECT_EQ(found.agreement, 1);
  EXPECT_EQ(found.perplexity_a, found.perplexity_b);
  ASSERT_EQ(found.layers.size(), 3U);
  for (const ComparedLayer& layer : found.layers) EXPECT_EQ(layer.error, 0) << layer.layer;
}

// The formulas, written down.
TEST(CompareModels, MeasuresAsItSays) {
  const TextModel a = from_box("induction");
  const TextModel b = rounded(a);
  const ModelComparison found = compare_models(a, b, kText);
  const std::vector<std::int32_t> tokens = a.tokenizer().encode(kText).ids;
  const std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  const Tensor log_a = log_probabilities(a, ids);
  const Tensor log_b = log_probabilities(b, ids);
  double divergence = 0, worst = 0, surprise_a = 0, surprise_b = 0;
  const std::int64_t count = std::ssize(ids) - 1;
  for (std::int64_t t = 0; t < count; ++t) {
    double here = 0;
    for (std::int64_t n = 0; n < log_a.dim(1); ++n) {
      here += std::exp(log_a.at({t, n})) * (log_a.at({t, n}) - log_b.at({t, n}));
    }
    divergence += here;
    worst = std::max(worst, here);
    surprise_a -= log_a.at({t, ids[static_cast<std::size_t>(t) + 1]});
    surprise_b -= log_b.at({t, ids[static_cast<std::size_t>(t) + 1]});
  }
  const auto all = static_cast<double>(count);
  EXPECT_GT(found.divergence, 0);
  EXPECT_NEAR(found.divergence, divergence / all, 1e-6 * (1 + divergence));
  ASSERT_FALSE(found.worst.empty());
  EXPECT_NEAR(found.worst.front().divergence, worst, 1e-6);
  EXPECT_NEAR(found.perplexity_a, std::exp(surprise_a / all), 1e-4 * found.perplexity_a);
  EXPECT_NEAR(found.perplexity_b, std::exp(surprise_b / all), 1e-4 * found.perplexity_b);
}

TEST(CompareModels, FindsTheLayerThatDiffers) {
  const TextModel a = from_box("induction");
  const ModelComparison found = compare_models(a, rounded(a), kText);
  EXPECT_EQ(found.layers[0].error, 0);
  EXPECT_EQ(found.layers[1].error, 0);
  EXPECT_GT(found.layers[2].error, 1e-4);
  EXPECT_LT(found.layers[2].error, 0.05);
  EXPECT_GE(found.layers[2].worst, found.layers[2].error);
  EXPECT_EQ(found.layers[2].layer, "1");
  const ModelComparison table = compare_models(a, rounded(a, "embedding"), kText);
  EXPECT_GT(table.layers[0].error, 1e-4);
}

TEST(CompareModels, ReadsInWindows) {
  const TextModel a = from_box("induction");
  const TextModel b = rounded(a);
  std::vector<std::int64_t> told;
  const ModelComparison found = compare_models(
      a, b, kText, {.window = 5, .progress = [&](std::int64_t done, std::int64_t) { told.push_back(done); }});
  EXPECT_EQ(found.predicted, 4 + 4 + 1);
  EXPECT_THAT(told, testing::ElementsAre(5, 10, 12));
  const ModelComparison exact = compare_models(a, b, kText, {.dtype = DType::f64});
  EXPECT_NEAR(exact.divergence, compare_models(a, b, kText).divergence, 1e-4 * (1 + exact.divergence));
}

TEST(CompareModels, RefusesWhatCannotBeCompared) {
  const TextModel letters = from_box("induction");
  const auto refusal = [&](const TextModel& a, const TextModel& b, const char* text, std::int64_t window = 512) {
    return error_message<InvalidArgument>([&] { static_cast<void>(compare_models(a, b, text, {.window = window})); });
  };
  EXPECT_THAT(refusal(letters, from_box("english"), kText), HasSubstr("b: expected a model that goes on with texts"));
  EXPECT_THAT(refusal(from_box("shapes"), letters, kText), HasSubstr("a: expected a model that goes on with texts"));
  EXPECT_THAT(refusal(letters, from_box("gpt"), kText),
              HasSubstr("b: expected a model that cuts the text into the same"));
  EXPECT_THAT(refusal(letters, from_box("gpt"), kText), HasSubstr("got one that cuts it otherwise"));
  EXPECT_THAT(refusal(from_box("shapes"), letters, kText), HasSubstr("got one of kind captioner"));
  EXPECT_THAT(refusal(letters, letters, "a"), HasSubstr("text: expected 2 tokens or more, got 1"));
  EXPECT_THAT(refusal(letters, letters, kText, 1), HasSubstr("window: expected 2 tokens or more, got 1"));
}

// Tables may have more rows than there are tokens.
TEST(CompareModels, RefusesScoresOfAnotherWidth) {
  const TextModel letters = from_box("induction");
  const auto tokens = std::shared_ptr<const Tokenizer>(&letters.tokenizer(), [](const Tokenizer*) {});
  const auto of_width = [&](std::int64_t vocabulary) {
    Generator generator(1);
    const Decoder decoder({.vocabulary = vocabulary, .length = 16, .d_model = 16, .heads = 2}, generator);
    return TextModel(Model(decoder, {.tokens = tokens}), "padded");
  };
  const std::int64_t size = letters.tokenizer().size();
  EXPECT_EQ(error_message<InvalidArgument>(
                [&] { static_cast<void>(compare_models(of_width(size + 8), of_width(size), kText)); }),
            "compare_models: b: expected one with scores for " + std::to_string(size + 8) + " tokens, as `a`, got " +
                std::to_string(size));
}

}  // namespace
}  // namespace qkv::compare_models_test
