#include "qkv/train/decoder_task.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/autograd/softmax.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

TEST(DecoderTask, PutsTheSourceBeforeTheTokens) {
  const auto task = make_task("copy", {.length = 3});
  const DecoderTask texts(*task);
  EXPECT_EQ(texts.length(), 8);
  EXPECT_EQ(texts.vocabulary(), task->vocabulary().size());
  const TextBatch batch = texts.batch(Split::train, 5, 2);
  std::int64_t tokens = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    const TaskExample example = task->example(Split::train, 5 + b);
    std::vector<double> ids(example.source.begin(), example.source.end());
    std::vector<double> targets(ids.size(), -100);
    ids.insert(ids.end(), example.tokens.begin(), example.tokens.end());
    for (const auto& label : example.labels) targets.push_back(label ? *label : -100);
    tokens += static_cast<std::int64_t>(ids.size());
    ids.resize(static_cast<std::size_t>(batch.ids.dim(1)), 0);
    targets.resize(ids.size(), -100);
    EXPECT_EQ(batch.ids.view().select(0, b).to_vector(), ids);
    EXPECT_EQ(batch.targets.view().select(0, b).to_vector(), targets);
  }
  EXPECT_EQ(batch.tokens, tokens);
}

TEST(DecoderTask, NumbersASourceOfAnotherLanguageAfterTheAnswers) {
  const auto task = make_task("translation");
  const DecoderTask texts(*task);
  EXPECT_EQ(texts.vocabulary(), task->vocabulary().size() + task->source_vocabulary().size());
  const TextBatch batch = texts.batch(Split::test, 0, 1);
  EXPECT_EQ(batch.ids.at({0, 0}), task->example(Split::test, 0).source[0] + task->vocabulary().size());
}

TEST(DecoderTask, RefusesWhatADecoderCannotAnswer) {
  const auto message = [](const char* name) {
    const auto task = make_task(name);
    return error_message([&] { const DecoderTask texts(*task); });
  };
  EXPECT_EQ(message("english"),
            "DecoderTask: task: expected one whose answers follow from the text before them, got english");
  EXPECT_EQ(message("shapes"),
            "DecoderTask: task: expected one whose answers follow from the text before them, got shapes");
}

TEST(DecoderTask, ScoresAHeadThatSeesItselfAlone) {
  // Before training all visible keys weigh the same, but for rounding: the score is what the pattern allows.
  const auto task = make_task("previous", {.length = 4});
  const DecoderTask texts(*task);
  Generator generator(1);
  const learn::Decoder decoder(
      {.vocabulary = texts.vocabulary(), .layers = 1, .d_model = 8, .heads = 2, .positions = learn::Positions::none},
      generator);
  for (const learn::Parameter& parameter : decoder.parameters()) {
    if (!parameter.name.ends_with("attention.q.weight") && !parameter.name.ends_with("attention.q.bias")) continue;
    const Tensor zeros(DType::f32, parameter.value.shape());
    learn::assign({parameter}, parameter.name, zeros);
  }
  const std::vector<RelationScores> scores = texts.patterns(decoder, 70);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].relation, "previous");
  ASSERT_EQ(scores[0].layers.size(), 1U);
  ASSERT_EQ(scores[0].layers[0].size(), 2U);
  double wanted = 0;
  std::int64_t rows = 0;
  for (std::int64_t n = 0; n < 70; ++n) {
    const std::size_t length = task->example(Split::test, n).tokens.size();
    for (std::size_t p = 1; p < length; ++p) wanted += 1.0 / static_cast<double>(p + 1);
    rows += static_cast<std::int64_t>(length) - 1;
  }
  EXPECT_EQ(scores[0].layers[0][0].rows, rows);
  EXPECT_NEAR(scores[0].layers[0][0].weight_sum, wanted, 1e-9 * wanted);
}

TEST(DecoderTask, IsLearnedByASmallDecoder) {
  const auto task = make_task("previous", {.length = 6});
  const DecoderTask texts(*task);
  std::vector<std::vector<double>> numbers;
  for (const int count : {1, 2}) {
    set_threads(count);
    Generator generator(1);
    const learn::Decoder decoder({.vocabulary = texts.vocabulary(), .layers = 1, .d_model = 32, .heads = 1}, generator);
    const auto optimizer = make_adamw(decoder.parameters());
    const double before = texts.accuracy(decoder, 64).share();
    const auto loss = [&](std::int64_t n) {
      const TextBatch batch = texts.batch(Split::train, 16 * n, 16);
      return BatchLoss{.loss = cross_entropy(decoder.forward(batch.ids), batch.targets), .tokens = batch.tokens};
    };
    train(*optimizer, loss, {.schedule = {.peak = 1e-2, .warm_up = 5, .steps = 200}},
          [](const TrainingStep&) { return Next::go_on; });
    const TaskAccuracy after = texts.accuracy(decoder, 64);
    EXPECT_LT(before, 0.2);
    EXPECT_GT(after.share(), 0.9);
    numbers.push_back(decoder.parameters()[0].value.value().to_vector());
  }
  set_threads(1);
  EXPECT_EQ(numbers[0], numbers[1]);
}

}  // namespace
}  // namespace qkv
