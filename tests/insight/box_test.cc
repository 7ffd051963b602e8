// The models of the box have heads that are known.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/softmax.h"
#include "qkv/insight/texts.h"
#include "train/boxed.h"

namespace qkv::box_test {
namespace {

using testing::HasSubstr;

HeadAnalysis analysed(const TrainedModel& trained, std::int64_t count = 16) {
  const HeadTexts texts = head_texts(trained, count);
  HeadOptions options;
  options.repeats = texts.repeats;
  return analyze_heads(trained.model(), texts.texts, options);
}

using tests::boxed;

TEST(BoxOfModels, HasTheInductionHeadOfInduction) {
  const HeadAnalysis analysis = analysed(boxed("induction"));
  ASSERT_EQ(analysis.sites.size(), 1U);
  const SiteHeads& site = analysis.sites.front();
  ASSERT_EQ(site.all.size(), 2U);
  const HeadStatistics& head = site.all[1];
  EXPECT_EQ(head.shown.word, "induction");
  EXPECT_GT(head.shares[text_pattern_named("induction")].mean(), 0.95);
  EXPECT_GT(*head.repeat_induction, 0.95);
  EXPECT_LT(*site.all[0].repeat_induction, 0.3);
  EXPECT_LT(*analysis.loss, 0.1);
  EXPECT_GT(*head.removal, 1.0);  // nothing else finds the pair
  EXPECT_GT(*head.gradient, 0.0);
}

TEST(BoxOfModels, HasThePreviousTokenHeadOfPrevious) {
  const HeadAnalysis analysis = analysed(boxed("previous"));
  const HeadStatistics& head = analysis.sites.front().all.front();
  EXPECT_EQ(head.shown.word, "previous");
  EXPECT_GT(head.shown.weight, 0.95);
  EXPECT_NEAR(*head.distance, 1, 0.1);
  EXPECT_GT(*head.removal, 1.0);
}

// A head of the last layer that the model hardly leans on, beside one of the first that it does.
TEST(BoxOfModels, LosesMuchWithoutSomeHeadsAndNothingWithoutOthers) {
  const HeadAnalysis analysis = analysed(boxed("brackets"));
  double least = 1;
  double most = 0;
  for (const HeadStatistics& head : analysis.sites.front().all) {
    least = std::min(least, std::abs(*head.removal));
    most = std::max(most, *head.removal);
  }
  EXPECT_LT(least, 0.01);
  EXPECT_GT(most, 0.5);
}

TEST(BoxOfModels, HasThreeSitesInAnEncoderDecoder) {
  const HeadAnalysis analysis = analysed(boxed("reverse"));
  ASSERT_EQ(analysis.sites.size(), 3U);
  EXPECT_EQ(analysis.sites[2].site, AttentionSite::cross);
  EXPECT_FALSE(analysis.sites[2].all.front().distance);
  EXPECT_TRUE(analysis.sites[2].all.front().removal);
}

TEST(BoxOfModels, HasPatchesThatAreNoText) {
  const HeadAnalysis analysis = analysed(boxed("shapes"), 4);
  for (const SiteHeads& site : analysis.sites) {
    const bool is_text = site.site == AttentionSite::tokens;
    EXPECT_EQ(site.all.front().distance.has_value(), is_text);
    EXPECT_GT(site.all.front().rows, 0);
  }
}

// Encoder: next and previous both have rows, and hidden forms are its targets.
TEST(BoxOfModels, HasAnEncoderWithTargets) {
  const HeadAnalysis analysis = analysed(boxed("english"));
  const HeadStatistics& head = analysis.sites.front().all.front();
  EXPECT_GT(head.shares[text_pattern_named("next")].rows, 0);
  EXPECT_FALSE(head.repeat_induction);
  EXPECT_TRUE(head.removal);
}

std::vector<PatternHead> patterns_of(const TrainedModel& trained) {
  if (!trained.has_examples()) return {};
  const HeadTexts texts = head_texts(trained, 64);
  return analyze_heads(trained.model(), texts.texts, {.importance_texts = 0, .patterns = texts.patterns}).patterns;
}

// The cards have the scores of every head, as training left them.
TEST(BoxOfModels, ShowThePatternsOfTheirTasks) {
  std::size_t found = 0;
  for (const std::string& name : trained_model_names()) {
    std::filesystem::path card = trained_model_path(name);
    const auto wanted = nlohmann::json::parse(std::ifstream(card.replace_extension(".json")))["patterns"];
    const std::vector<PatternHead> patterns = patterns_of(boxed(name));
    std::size_t at = 0;
    for (const auto& relation : wanted) {
      if (relation["layers"].empty()) continue;  // of a site that the model has not
      ASSERT_LT(at, patterns.size()) << name;
      const PatternHead& one = patterns[at++];
      EXPECT_EQ(one.pattern, relation["relation"].get<std::string>()) << name;
      EXPECT_EQ(name_of(one.site), relation["site"].get<std::string>()) << name;
      EXPECT_EQ(one.layer, relation["best"]["layer"]) << name << ", " << one.pattern;
      EXPECT_EQ(one.head, relation["best"]["head"]) << name << ", " << one.pattern;
      EXPECT_NEAR(one.weight, relation["best"]["weight"], 0.01) << name << ", " << one.pattern;
      ++found;
    }
    EXPECT_EQ(at, patterns.size()) << name;
  }
  EXPECT_GE(found, 18U);
}

// Its texts ask for nothing, so some tokens are masked.
TEST(AnalyzeHeads, AsksAnEncoderForMaskedTokens) {
  const TrainedModel& trained = boxed("english");
  const std::vector<std::string> own = {"the cat sleeps", "the cat sees the dog"};
  const HeadTexts texts = head_texts(trained, own);
  EXPECT_EQ(texts.masks.mask, std::nullopt);  // the task has its own questions
  HeadOptions options;
  EXPECT_EQ(analyze_heads(trained.model(), texts.texts, options).no_importance, "no text asks the model for a token");
  options.masks.mask = 0;
  const HeadAnalysis analysis = analyze_heads(trained.model(), texts.texts, options);
  EXPECT_EQ(analysis.importance_texts, 2);
  EXPECT_EQ(analysis.masked, 2);  // 15 % of 3 and of 5 words, one at least
  EXPECT_TRUE(analysis.loss);
  EXPECT_TRUE(analysis.sites.front().all.front().removal);
  options.masks.share = 1;
  EXPECT_EQ(analyze_heads(trained.model(), texts.texts, options).masked, 8);
}

TEST(AnalyzeHeads, ReadsTextsByTheirTowerAlone) {
  const TrainedModel& trained = boxed("towers");
  const std::vector<std::string> own = {"top left a red square left of a blue square"};
  const HeadAnalysis analysis = analyze_heads(trained.model(), head_texts(trained, own).texts);
  ASSERT_EQ(analysis.sites.size(), 1U);
  EXPECT_EQ(analysis.sites.front().site, AttentionSite::tokens);
  EXPECT_GT(analysis.sites.front().all.front().rows, 0);
  EXPECT_EQ(analysis.no_importance, "two towers say no tokens");
}

TEST(AnalyzeHeads, LeavesTheModelsGradientsClear) {
  const TrainedModel& trained = boxed("previous");
  static_cast<void>(analysed(trained, 2));
  for (const Parameter& parameter : trained.model().parameters()) EXPECT_FALSE(parameter.value.has_gradient());
}

TEST(AnalyzeHeads, GivesTheSameForTextsTogetherAndApart) {
  const TrainedModel& trained = boxed("induction");
  const HeadTexts texts = head_texts(trained, 3);
  LayerHeads apart(1);
  for (const HeadText& text : texts.texts) {
    const Tensor ids(text.ids, {1, static_cast<std::int64_t>(text.ids.size())});
    Trace trace({"blocks.0.attn"});
    trained.model().run({.ids = ids}, trace);
    Tensor hidden(DType::b8, {ids.dim(1), ids.dim(1)});
    for (std::int64_t i = 0; i < ids.dim(1); ++i) {
      for (std::int64_t j = i + 1; j < ids.dim(1); ++j) hidden.set({i, j}, 1);
    }
    apart.add(trace["blocks.0.attn.weights"].view().select(0, 0),
              {.queries = text.ids, .keys = text.ids, .roles = text.roles}, hidden);
  }
  const HeadAnalysis together = analyze_heads(trained.model(), texts.texts, {.importance_texts = 0});
  EXPECT_NEAR(together.sites.front().all.front().entropy, apart.statistics().front().entropy, 1e-6);
  EXPECT_EQ(together.no_importance, "not asked for");
}

// The head's output times s: the slope of the text's loss at s = 1.
TEST(AnalyzeHeads, MeasuresGradientAsTheSlopeOfTheLoss) {
  const TrainedModel& trained = boxed("previous");
  const Model model = trained.model().to(DType::f64);
  const HeadTexts texts = head_texts(trained, 1);
  const HeadText& text = texts.texts.front();
  const Shape shape = {1, static_cast<std::int64_t>(text.ids.size())};
  const auto loss_at = [&](double scale) {
    Trace trace(std::vector<std::string>{});
    trace.edit("blocks.0.attn.heads", [&](const Variable& heads) { return heads * scale; });
    const Tensor ids(text.ids, shape);
    return cross_entropy(model.forward({.ids = ids}, {.trace = &trace}), Tensor(text.targets, shape)).item();
  };
  const double step = 1e-4;
  const double slope = std::abs(loss_at(1 + step) - loss_at(1 - step)) / (2 * step);
  const HeadAnalysis analysis = analyze_heads(model, texts.texts);
  EXPECT_NEAR(*analysis.sites.front().all.front().gradient, slope, 1e-6 * slope + 1e-9);
  EXPECT_NEAR(*analysis.sites.front().all.front().removal, loss_at(0) - loss_at(1), 1e-12);
}

TEST(AnalyzeHeads, RefusesNoTextsAndSitesThatAreNone) {
  const TrainedModel& trained = boxed("english");
  EXPECT_THAT(error_message([&] { static_cast<void>(analyze_heads(trained.model(), {})); }),
              HasSubstr("texts: expected one or more, got none"));
  const HeadTexts texts = head_texts(trained, 1);
  EXPECT_THAT(error_message([&] {
                static_cast<void>(analyze_heads(trained.model(), texts.texts, {.sites = {AttentionSite::cross}}));
              }),
              HasSubstr("sites: expected one that the model has: "));
}

TEST(HeadTexts, AreTheReadersOwn) {
  const TrainedModel& trained = boxed("english");
  const std::vector<std::string> own = {"the cat sleeps", "the cat sees the dog"};
  const HeadTexts texts = head_texts(trained, own);
  ASSERT_EQ(texts.texts.size(), 2U);
  EXPECT_EQ(texts.texts[0].ids.size(), 3U);
  EXPECT_EQ(texts.described, "2 texts");
  EXPECT_TRUE(texts.repeats.tokens.empty());
}

// Its decoder has rows, and what it writes is what it is asked for.
TEST(HeadTexts, OfAnEncoderDecoderAreAnswered) {
  const TrainedModel& trained = boxed("translation");
  const std::string sentence =
      trained.task().source_vocabulary().decode(trained.task().example(Split::test, 0).source, SpecialTokens::without);
  const HeadTexts texts = head_texts(trained, std::span(&sentence, 1));
  const HeadText& text = texts.texts.front();
  ASSERT_GT(text.ids.size(), 2U);
  EXPECT_EQ(text.targets.front(), text.ids[1]);
  const HeadAnalysis analysis = analyze_heads(trained.model(), texts.texts);
  EXPECT_GT(analysis.sites.front().all.front().rows, 0);
  EXPECT_TRUE(analysis.loss);
}

TEST(HeadTexts, RefuseTextsOfAModelThatReadsImages) {
  const std::vector<std::string> own = {"a red square"};
  EXPECT_THAT(error_message([&] { static_cast<void>(head_texts(boxed("shapes"), own)); }),
              HasSubstr("none of a model that reads images"));
  EXPECT_THAT(error_message([] { static_cast<void>(head_texts(boxed("english"), 0)); }),
              HasSubstr("count: expected 1 or more"));
}

}  // namespace
}  // namespace qkv::box_test
