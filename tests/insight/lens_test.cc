// What each layer would say, and sums that are a logit.
#include "qkv/insight/lens.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/error_message.h"
#include "insight/score_rows.h"
#include "nn/passes.h"
#include "qkv/insight/texts.h"
#include "qkv/model/embed.h"
#include "qkv/softmax.h"
#include "qkv/train/english_trees.h"
#include "train/boxed.h"

namespace qkv::lens_test {
namespace {

using testing::HasSubstr;

using tests::boxed;

HeadText text_for(const TrainedModel& trained, const std::string& text) {
  return head_texts(trained, std::span(&text, 1)).texts.front();
}

std::vector<double> parameter_of(const Model& model, const std::string& name) {
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.name == name) return parameter.value.value().to_vector();
  }
  ADD_FAILURE() << name;
  return {};
}

// The last norm and the tied output map, by hand.
TEST(LogitLens, ReadsTheStateOfEachLayer) {
  const TrainedModel& trained = boxed("induction");
  const LogitLens lens = logit_lens(trained, {.text = "abcxyzb"});
  EXPECT_EQ(lens.layers, (std::vector<std::string>{"input", "0", "1"}));
  EXPECT_EQ(lens.answer, "c");
  EXPECT_TRUE(lens.is_expected);
  EXPECT_EQ(lens.scores.back().rank, 1);
  EXPECT_GT(lens.scores.back().probability, 0.99);
  EXPECT_GT(lens.scores[1].rank, 1);  // layer 0 only finds the token before
  EXPECT_EQ(lens.said.back().back().shown, "c");
  EXPECT_EQ(lens.probabilities.at({2, 6}), lens.scores.back().probability);

  const HeadText text = text_for(trained, "abcxyzb");
  Trace trace({"blocks.0"});
  const Tensor ids(text.ids, {1, 7});
  trained.model().run({.ids = ids}, trace);
  const std::vector<double> x = trace["blocks.0"].view().select(0, 0).select(0, 6).to_vector();
  const std::vector<double> weight = parameter_of(trained.model(), "ln_final.weight");
  const std::vector<double> bias = parameter_of(trained.model(), "ln_final.bias");
  const std::vector<double> table = parameter_of(trained.model(), "embedding.weight");
  const auto width = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / width;
  double variance = 0;
  for (const double value : x) variance += (value - mean) * (value - mean) / width;
  const std::int32_t token = trained.task().vocabulary().id("c");
  double logit = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double normed = (x[n] - mean) / std::sqrt(variance + 1e-5) * weight[n] + bias[n];
    logit += normed * table[static_cast<std::size_t>(token) * x.size() + n];
  }
  EXPECT_NEAR(lens.scores[1].logit, logit, 1e-4);
}

// Beside the softmax of qkv/softmax.h, which sums in f64.
TEST(ScoreRows, AreWhatASoftmaxOfEachRowSays) {
  Generator generator(11);
  Tensor scores = generator.randn({3, 1000});
  scores.set({1, 7}, 30);
  scores.set({1, 990}, 40);
  for (std::int64_t n = 0; n < 1000; ++n) scores.set({2, n}, -std::numeric_limits<double>::infinity());
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Tensor all = scores.to(dtype);
    const Tensor shares = softmax(Tensor(all, DType::f64), -1);
    const insight::ScoreRows rows(all, 900);
    EXPECT_TRUE(rows.are_numbers());
    EXPECT_EQ(rows.likeliest(1), 7);  // the likelier one is no token
    EXPECT_EQ(rows.likeliest(2), 0);
    for (std::int64_t row = 0; row < 3; ++row) {
      const double expected = shares.at({row, 8});
      EXPECT_NEAR(rows.share(row, 8), expected, expected * (dtype == DType::f64 ? 1e-13 : 1e-6));
    }
    EXPECT_EQ(rows.score(1, 7).rank, 2);
    EXPECT_EQ(rows.score(1, 7).logit, 30);
  }
  for (const double fault : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    scores.set({0, 950}, fault);
    EXPECT_FALSE(insight::ScoreRows(scores.to(DType::f32), 900).are_numbers());
    EXPECT_FALSE(insight::ScoreRows(scores.to(DType::f64), 900).are_numbers());
  }
}

void expect_sums(const LogitParts& parts, double tolerance) {
  EXPECT_NEAR(parts.sum(), parts.logit, tolerance);
  const auto of_keys = [](const Tensor& keys, std::size_t layer, std::size_t head) {
    const std::vector<double> all =
        keys.view().select(0, static_cast<std::int64_t>(layer)).select(0, static_cast<std::int64_t>(head)).to_vector();
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  for (std::size_t n = 0; n < parts.layers.size(); ++n) {
    for (std::size_t h = 0; h < parts.layers[n].heads.size(); ++h) {
      EXPECT_NEAR(of_keys(parts.keys, n, h), parts.layers[n].heads[h], tolerance);
    }
    for (std::size_t h = 0; h < parts.layers[n].cross.size(); ++h) {
      EXPECT_NEAR(of_keys(parts.cross_keys, n, h), parts.layers[n].cross[h], tolerance);
    }
  }
}

TEST(LogitParts, AddUpToTheLogit) {
  for (const std::string name : {"induction", "brackets", "english", "gpt"}) {
    const TrainedModel& trained = boxed(name);
    const HeadText text = trained.has_examples() ? head_texts(trained, 1).texts.front()
                                                 : text_for(trained, english_trees(1).front().text);
    expect_sums(logit_parts(trained.model(), text, 3, 5), 2e-4);
    EXPECT_FALSE(trained.model().parameters().front().value.has_gradient());
  }
  for (const std::string name : {"reverse", "shapes"}) {
    const TrainedModel& trained = boxed(name);
    const LogitParts parts = logit_parts(trained.model(), head_texts(trained, 1).texts.front(), 2, 5);
    EXPECT_FALSE(parts.layers.front().cross.empty());
    expect_sums(parts, 2e-4);
  }
}

// Shared keys, RMSNorm with 1 added, norms on both sides, capped and scaled logits: as Gemma 2 has them.
TEST(LogitParts, AddUpThroughNormsOnBothSidesAndACap) {
  Generator generator(5);
  for (const NormKind norm : {NormKind::rms_plus_one, NormKind::layer}) {
    DecoderOptions options{.vocabulary = 11, .layers = 2, .d_model = 16, .heads = 4};
    options.order = NormOrder::both;
    options.choices.norm = norm;
    options.choices.kv_heads = 2;
    options.logit_softcap = 3;
    const Model model(Decoder(options, generator, DType::f64));
    for (const Parameter& parameter : model.parameters()) {
      if (parameter.name.find("norm") == std::string::npos && parameter.name.find("ln") == std::string::npos) continue;
      const std::vector<double> values = generator.randn(parameter.value.shape()).to_vector();
      const MutableTensorView to = parameter.value.mutable_value();
      for (std::int64_t n = 0; n < to.size(); ++n) to.set({n}, values[static_cast<std::size_t>(n)]);
    }
    const HeadText text{.ids = {1, 4, 2, 4, 9}};
    expect_sums(logit_parts(model, text, 4, 3), 1e-9);
    const LogitParts less = logit_parts(model, text, 4, 3, 7);
    expect_sums(less, 1e-9);
    EXPECT_NEAR(less.logit, logit_parts(model, text, 4, 3).logit - logit_parts(model, text, 4, 7).logit, 1e-12);
  }
}

// Norms behind sublayers as OLMo 2 has them, sublayers side by side as Phi and GPT-NeoX, factors as Granite.
TEST(LogitParts, AddUpInEveryOrderOfNorms) {
  Generator generator(6);
  for (const NormOrder order : {NormOrder::after, NormOrder::parallel, NormOrder::parallel_one, NormOrder::pre}) {
    DecoderOptions options{.vocabulary = 11, .layers = 2, .d_model = 16, .heads = 4, .tied = false};
    options.order = order;
    options.output_bias = true;
    options.embedding_factor = 3;
    options.choices.residual_scale = 0.4;
    options.choices.norm = NormKind::layer_without_bias;
    options.choices.qk_norm = 1e-5;
    options.choices.qk_norm_of_all = true;
    options.choices.rotary_dim = 2;
    options.choices.unturned = {0, 1};
    const Model model(Decoder(options, generator, DType::f64));
    const HeadText text{.ids = {1, 4, 2, 4, 9}};
    expect_sums(logit_parts(model, text, 4, 3), 1e-9);
  }
}

// With norms held, and the feed-forward layer the other text's whatever it reads, a removal of heads of the last layer
// takes their parts from the logit, and nothing else.
TEST(LogitParts, AreWhatAPatchChangesWithNormsHeld) {
  const TrainedModel& trained = boxed("brackets");
  const Model model = trained.model().to(DType::f64);
  const HeadText text = text_for(trained, "([]{})(");
  const HeadText other = text_for(trained, "{{}}[](");
  const auto logit_with = [&](const std::vector<Intervention>& all) {
    Trace trace({"logits"});
    Intervener(model, text, &other).add(all, trace);
    const Tensor ids(text.ids, {1, 7});
    model.run({.ids = ids}, trace);
    return trace["logits"].at({0, 6, 2});
  };
  const LogitParts own = logit_parts(model, text, 6, 2);
  const Intervention held = FrozenNorms{};
  const Intervention fixed = PatchedValue{.name = "blocks.2.ffn"};
  const double with = logit_with({held, fixed});
  for (std::size_t h = 0; h < 4; ++h) {
    const Intervention removal = RemovedHead{{.layer = 2, .head = static_cast<std::int64_t>(h)}};
    EXPECT_NEAR(logit_with({held, fixed, removal}) - with, -own.layers[2].heads[h], 1e-9);
  }
  const double without = logit_with({held, fixed, RemovedHead{{.layer = 2}}});
  double heads = 0;
  for (const double part : own.layers[2].heads) heads += part;
  EXPECT_GT(std::abs(heads), 1e-3);
  EXPECT_NEAR(without - with, -heads, 1e-9);
}

TEST(LogitParts, RefuseAModelWhoseStreamIsNoSum) {
  Generator generator(5);
  const HeadText text{.ids = {1, 4, 2}};
  const auto message = [&](const Model& model) {
    return error_message([&] { static_cast<void>(logit_parts(model, text, 2, 3)); });
  };
  DecoderOptions options{.vocabulary = 11, .layers = 1, .d_model = 16, .heads = 4};
  options.order = NormOrder::post;
  EXPECT_THAT(message(Model(Decoder(options, generator))), HasSubstr("got post-norm blocks"));
  EncoderOptions encoder{.vocabulary = 11, .layers = 1, .d_model = 16, .heads = 4};
  encoder.head = EncoderHead::transform;
  EXPECT_THAT(message(Model(Encoder(encoder, generator))), HasSubstr("got one with a layer before the output map"));
  encoder.head = EncoderHead::none;
  EXPECT_THAT(message(Model(Encoder(encoder, generator))), HasSubstr("got one without an output map"));
}

TEST(LogitLens, RefusesAModelThatSaysNoTokens) {
  EXPECT_THAT(error_message([] { static_cast<void>(logit_lens(boxed("towers"), {.example = 0})); }),
              HasSubstr("model: expected one that says tokens or classes, got two towers"));
}

TEST(LensReport, HasTheLensAndTheParts) {
  const TrainedModel& trained = boxed("induction");
  const LensReport report = lens_report(trained, {.text = "abcxyzb", .against = "y"});
  ASSERT_TRUE(report.parts);
  const std::string table = lens_table(report, "induction");
  EXPECT_THAT(table, HasSubstr("places 1 to 6 of 0 to 6"));
  EXPECT_THAT(table, HasSubstr("The answer after 6 “b”: “c”, as expected"));
  EXPECT_THAT(table, HasSubstr("What adds up to the logit of “c” less that of “y”"));
  EXPECT_THAT(table, HasSubstr("head 1.0"));
  EXPECT_EQ(lens_panel(report, "induction").heatmaps.size(), 4U);
  const LensReport across = lens_report(boxed("reverse"), {.example = 0});
  EXPECT_EQ(lens_panel(across, "reverse").heatmaps.size(), 6U);
  EXPECT_EQ(across.cross_keys.size(), static_cast<std::size_t>(across.parts->cross_keys.dim(2)));
}

// Each face answers from one pass; a change from one before and one after it.
TEST(Passes, AreAsManyAsAnAnswerNeeds) {
  const TrainedModel& trained = boxed("gpt");
  const auto passes_of = [](const auto& answer) {
    const std::int64_t before = passes_of_thread();
    answer();
    return passes_of_thread() - before;
  };
  EXPECT_EQ(passes_of([&] { static_cast<void>(lens_report(trained, {.text = "The cat sat", .against = " the"})); }), 1);
  EXPECT_EQ(passes_of([&] { static_cast<void>(logit_lens(trained, {.text = "The cat sat"})); }), 1);
  EXPECT_EQ(passes_of([&] { static_cast<void>(logit_parts(trained.model(), text_for(trained, "The cat"), 1, 5)); }), 1);
  ChangeQuestion question;
  question.of.text = "The cat sat";
  question.interventions = {parse_intervention("remove 0.0")};
  EXPECT_EQ(passes_of([&] { static_cast<void>(change_text(trained, question)); }), 2);
}

}  // namespace
}  // namespace qkv::lens_test
