// Pictures and captions as an explanation.
#include "qkv/explain/match.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "model/tower_folder.h"
#include "train/boxed.h"

namespace qkv::match_test {
namespace {

using testing::HasSubstr;

Tensor noise(std::uint64_t seed) { return Generator(seed).randint(0, 256, {12, 10, 3}).to(DType::u8); }

Explanation explained(const TrainedModel& model, const MatchQuestion& question) {
  return explain_match(model, question, match_pairs(model, question.pictures, question.captions));
}

TEST(ExplainMatch, ShowsEachPictureWithItsCaptionsAndMaps) {
  const TrainedModel& towers = tests::boxed("towers");
  const MatchQuestion question{.title = "match",
                               .pictures = {noise(1), noise(2)},
                               .names = {"one.png", "two.png"},
                               .captions = {"a red circle", "top left a blue cross"}};
  const Explanation explanation = explained(towers, question);
  ASSERT_EQ(explanation.steps.size(), 5U);
  const Section& match = explanation.steps[0];
  EXPECT_EQ(match.heatmaps.at(0).heatmap.row_labels, question.captions);
  ASSERT_EQ(match.tables.size(), 3U);
  EXPECT_EQ(match.tables[1].title, "two.png");
  EXPECT_EQ(match.tables[1].rows.at(1).at(0).text, "top left a blue cross");
  EXPECT_EQ(match.tables[2].rows.size(), 2U);
  const Section& maps = explanation.steps[3];
  EXPECT_EQ(maps.id, "maps-2");
  EXPECT_EQ(maps.title, "What the cosines of two.png rest on");
  ASSERT_EQ(maps.images.size(), 4U);
  EXPECT_EQ(maps.images[3].title, "2 covered");
  EXPECT_EQ(maps.images[3].pixels.to_vector(), towers.image_of(noise(2)).to_vector());
  EXPECT_EQ(maps.images[3].weights.shape(), (Shape{6, 6}));
  EXPECT_EQ(maps.heatmaps.at(0).heatmap.column_labels, (std::vector<std::string>{"<s>", "a", "red", "circle"}));
  const Section& words = explanation.steps[4];
  EXPECT_EQ(words.id, "words-2");
  EXPECT_THAT(words.title,
              testing::MatchesRegex("two.png: Where each word of “(a red circle|top left a blue cross)” is seen"));
  EXPECT_EQ(words.images.at(0).title.substr(0, 2), "1 ");
  EXPECT_EQ(explanation.tensor("cosines").shape(), (Shape{2, 2}));
}

TEST(ExplainMatch, OfOthersShowsTheColoursAsTheyWereAndOnePadding) {
  const tests::TowerFolder folder("siglip");
  folder.put("tokenizer_config.json", R"({"pad_token": "<pad>"})");
  const TrainedModel siglip = TrainedModel::read(folder.path());
  Tensor picture(DType::u8, {8, 8, 3});
  for (std::uint8_t& level : picture.values<std::uint8_t>()) level = 51;
  const Explanation explanation =
      explained(siglip, {.title = "m", .pictures = {picture}, .names = {"p"}, .captions = {"a circle"}});
  EXPECT_THAT(explanation.steps.at(0).text, HasSubstr("each pair by itself"));
  const Section& maps = explanation.steps.at(1);
  EXPECT_EQ(maps.images.at(0).title, "attention");
  for (const double value : maps.images.at(0).pixels.to_vector()) EXPECT_NEAR(value, 0.2, 1e-6);
  EXPECT_EQ(maps.heatmaps.at(0).heatmap.column_labels, (std::vector<std::string>{"a", "circle", "</s>", "<pad>"}));
  double sum = 0;
  for (const double share : maps.heatmaps[0].heatmap.values.to_vector()) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);                             // one padding stands for all
  EXPECT_EQ(explanation.steps.at(2).images.size(), 2U);  // of words alone
  EXPECT_THAT(explanation.steps.at(2).images.at(1).title, testing::StartsWith("1 circle ("));
}

TEST(ExplainMatch, NamesWhatDoesNotBelongTogether) {
  const TrainedModel& towers = tests::boxed("towers");
  const MatchQuestion question{.pictures = {noise(1)}, .names = {"p"}, .captions = {"a red circle"}};
  const PairMatch match = match_pairs(towers, question.pictures, question.captions);
  MatchQuestion other = question;
  other.names.clear();
  EXPECT_EQ(error_message([&] { static_cast<void>(explain_match(towers, other, match)); }),
            "explain_match: names: expected 1, one for each picture, got 0");
  other = question;
  other.captions.emplace_back("a circle");
  EXPECT_EQ(error_message([&] { static_cast<void>(explain_match(towers, other, match)); }),
            "explain_match: match: expected that of 1 pictures and 2 captions, one or more of each, got [1, 1]");
  const TrainedModel& captioner = tests::boxed("shapes");
  EXPECT_EQ(error_message([&] { static_cast<void>(explain_match(captioner, question, match)); }),
            "explain_match: model: expected a two-tower model, got one of kind captioner");
}

}  // namespace
}  // namespace qkv::match_test
