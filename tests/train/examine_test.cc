#include "qkv/train/examine.h"

#include <gmock/gmock.h>

#include <numeric>

#include "core/error_message.h"
#include "qkv/model/relation_scores.h"
#include "qkv/threads.h"
#include "qkv/train/task_model.h"
#include "qkv/train/text_task.h"
#include "qkv/train/training.h"

namespace qkv::examine_test {
namespace {

Model model_for(const Task& task, const TaskModelOptions& options) {
  Generator generator(1);
  return make_task_model(options, task, generator);
}

// Of weights in f32 against 1: exp(score - lse) inherits the roundings of score, lse and their difference, each of
// numbers below 4, 3 * 4 * 2^-24 together, and is rounded itself.
constexpr double kWeightError = 16 * 0x1p-24;

TEST(Batch, PutsTheSourceBeforeTheTokens) {
  const auto task = make_task("copy", {.length = 3});
  const std::vector<Example> examples = {task->example(Split::train, 5), task->example(Split::train, 6)};
  const Batch batch = batch_of(*task, examples, BatchLayout::joined);
  std::int64_t tokens = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    const Example& example = examples[static_cast<std::size_t>(b)];
    std::vector<double> ids(example.source.begin(), example.source.end());
    std::vector<double> targets(ids.size(), -100);
    ids.insert(ids.end(), example.tokens.begin(), example.tokens.end());
    for (const auto& label : example.labels) targets.push_back(label ? *label : -100);
    tokens += static_cast<std::int64_t>(ids.size());
    EXPECT_EQ(batch.lengths[static_cast<std::size_t>(b)], static_cast<std::int64_t>(ids.size()));
    ids.resize(static_cast<std::size_t>(batch.ids.dim(1)), 0);
    targets.resize(ids.size(), -100);
    EXPECT_EQ(batch.ids.view().select(0, b).to_vector(), ids);
    EXPECT_EQ(batch.targets.view().select(0, b).to_vector(), targets);
  }
  EXPECT_EQ(batch.tokens, tokens);
  EXPECT_TRUE(batch.source.empty());
}

TEST(Batch, KeepsTheSourceApart) {
  const auto task = make_task("copy", {.length = 3});
  const std::vector<Example> examples = {task->example(Split::train, 0), task->example(Split::train, 1)};
  const Batch batch = batch_of(*task, examples, BatchLayout::apart);
  for (std::size_t b = 0; b < 2; ++b) {
    std::vector<double> source(examples[b].source.begin(), examples[b].source.end());
    EXPECT_EQ(batch.source_lengths[b], static_cast<std::int64_t>(source.size()));
    source.resize(static_cast<std::size_t>(batch.source.dim(1)), 0);
    EXPECT_EQ(batch.source.view().select(0, static_cast<std::int64_t>(b)).to_vector(), source);
    EXPECT_EQ(batch.ids.at({static_cast<std::int64_t>(b), 0}), examples[b].tokens[0]);
  }
}

TEST(Batch, NumbersASourceOfAnotherLanguageAfterTheAnswers) {
  const auto task = make_task("translation");
  const std::vector<Example> examples = {task->example(Split::test, 0)};
  const Batch joined = batch_of(*task, examples, BatchLayout::joined);
  EXPECT_EQ(joined.ids.at({0, 0}), examples[0].source[0] + task->vocabulary().size());
  const Batch apart = batch_of(*task, examples, BatchLayout::apart);
  EXPECT_EQ(apart.source.at({0, 0}), examples[0].source[0]);
}

TEST(Batch, HoldsImages) {
  const auto task = make_task("shapes");
  const std::vector<Example> examples = {task->example(Split::test, 0), task->example(Split::test, 1)};
  const Batch batch = batch_of(*task, examples, BatchLayout::apart);
  EXPECT_EQ(batch.images.view().select(0, 1).to_vector(), examples[1].image.to_vector());
  EXPECT_EQ(batch.patches, task->lengths().patches());
}

TEST(MakeTaskModel, RefusesATaskThatItCannotRead) {
  const auto message = [](ModelKind kind, const char* name) {
    const auto task = make_task(name);
    return error_message([&] { static_cast<void>(model_for(*task, {.kind = kind})); });
  };
  EXPECT_EQ(message(kind_of<Decoder>, "shapes"),
            "make_task_model: model: expected a task without images for a model of kind decoder, got shapes");
  EXPECT_EQ(
      message(kind_of<Encoder>, "induction"),
      "make_task_model: model: expected a task whose answers are not in its text for a model of kind encoder, got "
      "induction");
  EXPECT_EQ(message(kind_of<EncoderDecoder>, "english"),
            "make_task_model: model: expected a task with a source for a model of kind encoder-decoder, got english");
  EXPECT_EQ(message(kind_of<Captioner>, "copy"),
            "make_task_model: model: expected a task with images for a model of kind captioner, got copy");
  EXPECT_EQ(message(kind_of<TwoTower>, "copy"),
            "make_task_model: model: expected a task with images for a model of kind two-tower, got copy");
  EXPECT_EQ(message(kind_of<ImageEncoder>, "shapes"),
            "make_task_model: model: expected a task of classes of images, of which there is none, for a model of kind "
            "image-encoder, got shapes");
}

struct KindOnTask {
  ModelKind kind;
  const char* task;
};

class EveryKind : public testing::TestWithParam<KindOnTask> {
 protected:
  std::unique_ptr<const Task> task_ = make_task(GetParam().task);
  Model model_ = model_for(*task_, {.kind = GetParam().kind, .layers = 2, .d_model = 16, .heads = 2});
};

TEST_P(EveryKind, ComesBackFromItsConfig) {
  const Model again(model_.config(), Init::undrawn());
  EXPECT_EQ(again.config(), model_.config());
  EXPECT_EQ(again.parameter_count(), parameter_count(model_.parameters()));
}

TEST_P(EveryKind, DrawsNothingWhereItIsMadeOfItsConfig) {
  const Model again(model_.config(), Init::undrawn());
  std::vector<std::string> names;
  for (const Parameter& parameter : again.parameters()) {
    names.push_back(parameter.name);
    if (parameter.name == "log_scale") continue;  // CLIP's start, which nobody draws
    EXPECT_THAT(parameter.value.value().to_vector(), testing::Each(0)) << parameter.name;
  }
  std::vector<std::string> drawn;
  for (const Parameter& parameter : model_.parameters()) drawn.push_back(parameter.name);
  EXPECT_EQ(names, drawn);
}

TEST_P(EveryKind, ShowsATraceItsWeights) {
  const std::vector<Example> examples = {task_->example(Split::test, 0)};
  const Batch batch = batch_of(*task_, examples, layout_for(model_.kind()));
  const auto scope = model_.scope_of(AttentionSite::tokens);
  ASSERT_TRUE(scope.has_value());
  // From a second pass on, the weights are laid out, whose products may be rounded otherwise.
  static_cast<void>(model_.weights(input_of(batch), AttentionSite::tokens));
  Trace trace({scope->name(1)});
  model_.run(input_of(batch), trace);
  EXPECT_EQ(trace[scope->name(1, "weights")].to_vector(),
            model_.weights(input_of(batch), AttentionSite::tokens)[1].to_vector());
}

TEST_P(EveryKind, HasAWeightRowOfOneForEachQuery) {
  const std::vector<Example> examples = {task_->example(Split::test, 0), task_->example(Split::test, 1)};
  const Batch batch = batch_of(*task_, examples, layout_for(model_.kind()));
  for (const AttentionSite site : {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross}) {
    const std::vector<Tensor> layers = model_.weights(input_of(batch), site);
    EXPECT_EQ(layers.empty(), !model_.scope_of(site).has_value());
    for (const Tensor& weights : layers) {
      const Tensor one(weights_of_example(batch, 1, site, weights));
      EXPECT_EQ(one.dim(0), 2);
      const std::vector<double> row = one.view().select(0, 1).select(0, one.dim(1) - 1).to_vector();
      if (batch.layout == BatchLayout::apart) {
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, kWeightError);
      }
    }
  }
}

// What the padding of a batch holds changes nothing: alone, an example has the same loss.
TEST_P(EveryKind, LearnsFromAllButPadding) {
  TaskAccuracy apart;
  std::vector<Example> examples;
  for (std::int64_t n = 0; n < 3; ++n) {
    examples.push_back(task_->example(Split::test, n));
    apart += batch_accuracy(model_, batch_of(*task_, std::span(&examples.back(), 1), layout_for(model_.kind())));
  }
  const TaskAccuracy together = batch_accuracy(model_, batch_of(*task_, examples, layout_for(model_.kind())));
  EXPECT_EQ(together.asked, apart.asked);
  if (GetParam().kind != kind_of<TwoTower>) {
    EXPECT_NEAR(together.loss(), apart.loss(), 1e-5);
  }
}

// A contrastive loss is one of the batch, and no mean over its pairs.
TEST_P(EveryKind, EightBatchesOfOneAreOneBatchOfEight) {
  if (GetParam().kind == kind_of<TwoTower>) GTEST_SKIP() << "pairs of one batch are held against each other";
  const auto step_in = [&](std::int64_t parts) {
    const std::int64_t size = 8 / parts;
    const auto optimizer = make_sgd(model_.parameters());
    TrainingStep done;
    train(
        *optimizer, [&](std::int64_t n) { return task_loss(*task_, model_, n * size, size, {}); },
        {.schedule = {.kind = ScheduleKind::constant, .peak = 0, .steps = 1}, .accumulation = parts},
        [&](const TrainingStep& step) {
          done = step;
          return Next::go_on;
        });
    return done;
  };
  const TrainingStep one = step_in(1);
  const TrainingStep eight = step_in(8);
  EXPECT_EQ(one.tokens, eight.tokens);
  EXPECT_NEAR(one.loss, eight.loss, 1e-5 * one.loss);
  EXPECT_NEAR(one.gradient_norm, eight.gradient_norm, 1e-4 * one.gradient_norm);
}

TEST_P(EveryKind, GetsBetter) {
  const auto optimizer = make_adamw(model_.parameters());
  const auto loss = [&](std::int64_t n) {
    return task_loss(*task_, model_, 8 * n, 8, {.dropout = Dropout{.p = 0.05, .seed = static_cast<std::uint64_t>(n)}});
  };
  const double before = task_accuracy(*task_, model_, 16).loss();
  train(*optimizer, loss, {.schedule = {.peak = 1e-2, .warm_up = 2, .steps = 40}},
        [](const TrainingStep&) { return Next::go_on; });
  EXPECT_LT(task_accuracy(*task_, model_, 16).loss(), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(KindOnTask{kind_of<Decoder>, "translation"},
                                         KindOnTask{kind_of<Encoder>, "english"},
                                         KindOnTask{kind_of<EncoderDecoder>, "translation"},
                                         KindOnTask{kind_of<Captioner>, "shapes"},
                                         KindOnTask{kind_of<TwoTower>, "shapes"}),
                         [](const auto& made) {
                           std::string name(name_of(made.param.kind));
                           std::erase(name, '-');
                           return name;
                         });

// A text of "ab" over and over, with few held-out windows.
TEST(TaskAccuracy, CountsEachHeldOutExampleOnce) {
  std::string text;
  for (int n = 0; n < 200; ++n) text += "ab ";
  const auto task = make_text_task(text, "the text", {.length = 10});
  const std::int64_t count = task->count(Split::test).value();
  ASSERT_LT(count, 64);
  const auto model = model_for(*task, {.layers = 1, .d_model = 8, .heads = 2});
  EXPECT_EQ(task_accuracy(*task, model, 512).asked, 10 * count);
  EXPECT_EQ(task_accuracy(*task, model, 2).asked, 20);
  EXPECT_EQ(held_out_examples(*task, 512), count);
  EXPECT_EQ(held_out_examples(*task, 2), 2);
  EXPECT_EQ(held_out_examples(*make_task("copy"), 512), 512);
}

// The loss of an examination is that of training, without dropout.
TEST(TaskAccuracy, OfTwoTowersHasTheLossOfTraining) {
  const auto task = make_task("shapes");
  const auto model = model_for(*task, {.kind = kind_of<TwoTower>, .layers = 1, .d_model = 8, .heads = 2});
  std::vector<Example> examples;
  for (std::int64_t n = 0; n < 5; ++n) examples.push_back(task->example(Split::test, n));
  const Batch batch = batch_of(*task, examples, layout_for(model.kind()));
  EXPECT_DOUBLE_EQ(batch_accuracy(model, batch).loss(), batch_loss(model, batch).item());
}

TEST(TaskPatterns, ScoreAHeadThatSeesItselfAlone) {
  // Before training all visible keys weigh the same, but for rounding: the score is what the pattern allows.
  const auto task = make_task("previous", {.length = 4});
  const auto model = model_for(*task, {.layers = 1, .d_model = 8, .heads = 2, .positions = Positions::none});
  for (const Parameter& parameter : model.parameters()) {
    if (!parameter.name.ends_with("attn.q.weight") && !parameter.name.ends_with("attn.q.bias")) continue;
    const Tensor zeros(DType::f32, parameter.value.shape());
    assign({parameter}, parameter.name, zeros);
  }
  const std::vector<RelationScores> scores = relation_scores(*task, model, 70);
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
  EXPECT_NEAR(scores[0].layers[0][0].weight_sum, wanted, kWeightError * wanted);
}

TEST(MakeTaskModel, IsLearnedByASmallDecoder) {
  const auto task = make_task("previous", {.length = 6});
  std::vector<std::vector<double>> numbers;
  for (const int count : {1, 2}) {
    set_threads(count);
    const auto model = model_for(*task, {.layers = 1, .d_model = 32, .heads = 1});
    const auto optimizer = make_adamw(model.parameters());
    const double before = task_accuracy(*task, model, 64).share();
    const auto loss = [&](std::int64_t n) { return task_loss(*task, model, 16 * n, 16, {}); };
    train(*optimizer, loss, {.schedule = {.peak = 1e-2, .warm_up = 5, .steps = 200}},
          [](const TrainingStep&) { return Next::go_on; });
    const TaskAccuracy after = task_accuracy(*task, model, 64);
    EXPECT_LT(before, 0.2);
    EXPECT_GT(after.share(), 0.9);
    numbers.push_back(model.parameters()[0].value.value().to_vector());
  }
  set_threads(1);
  EXPECT_EQ(numbers[0], numbers[1]);
}

}  // namespace
}  // namespace qkv::examine_test
