// The models in the box score what their cards say.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "qkv/model/relation_scores.h"
#include "qkv/train/examine.h"
#include "train/boxed.h"

namespace qkv::box_test {
namespace {

const std::filesystem::path kBox = std::filesystem::path(QKV_SOURCE_DIR) / "models";

class Box : public testing::TestWithParam<std::string> {
 protected:
  nlohmann::json card_ = nlohmann::json::parse(std::ifstream(kBox / (GetParam() + ".json")));
  TrainedModel trained_ = TrainedModel::read((kBox / (GetParam() + ".safetensors")).string());
};

// Targets round differently, so an answer on the edge may fall to the other side.
constexpr double kAccuracy = 1e-3;
constexpr double kWeight = 1e-3;

TEST_P(Box, AnswersAsItsCardSays) {
  const TaskAccuracy accuracy = task_accuracy(trained_.task(), trained_.model(), card_["examples"].get<std::int64_t>());
  EXPECT_EQ(accuracy.asked, card_["answers"].get<std::int64_t>());
  EXPECT_NEAR(accuracy.share(), card_["accuracy"].get<double>(), kAccuracy);
  EXPECT_GE(accuracy.share(), trained_.task().info().accuracy);
}

TEST_P(Box, ShowsThePatternsOfItsCard) {
  const std::vector<RelationScores> scores =
      relation_scores(trained_.task(), trained_.model(), card_["pattern_examples"].get<std::int64_t>());
  ASSERT_EQ(scores.size(), card_["patterns"].size());
  for (std::size_t n = 0; n < scores.size(); ++n) {
    const nlohmann::json& pattern = card_["patterns"][n];
    EXPECT_EQ(scores[n].relation, pattern["relation"].get<std::string>());
    const bool has_best = pattern.contains("best") && !pattern["best"].is_null();
    EXPECT_EQ(scores[n].layers.empty(), !has_best);
    if (!has_best) continue;  // two towers have no attention from one to the other
    const BestHead best = best_head(scores[n]);
    EXPECT_NEAR(best.score.mean_weight(), pattern["best"]["weight"].get<double>(), kWeight) << scores[n].relation;
  }
}

TEST_P(Box, HasAsManyParametersAsItsCardSays) {
  EXPECT_EQ(trained_.model().parameter_count(), card_["parameters"].get<std::int64_t>());
}

// The file alone, without its task, reads and writes texts.
TEST_P(Box, HoldsItsTokenizers) {
  const ModelTokenizers& tokenizers = trained_.model().tokenizers();
  ASSERT_NE(tokenizers.tokens, nullptr);
  EXPECT_TRUE(have_same_pieces(*tokenizers.tokens, trained_.task().vocabulary()));
  const Tokenizer& source = tokenizers.source ? *tokenizers.source : *tokenizers.tokens;
  EXPECT_TRUE(have_same_pieces(source, trained_.task().source_vocabulary()));
}

// What is written over the cache is what the scores of the whole text, read anew for each token, put first.
TEST_P(Box, WritesOverItsCacheWhatTheWholeTextSays) {
  if (trained_.kind() == kind_of<Encoder>) GTEST_SKIP() << "an encoder writes nothing";
  if (trained_.kind() == kind_of<TwoTower>) GTEST_SKIP() << "two towers write nothing";
  for (std::int64_t n = 0; n < 8; ++n) {
    Example example = trained_.task().example(Split::test, n);
    example.tokens.resize(example.source.empty() && example.image.empty() ? example.tokens.size() / 2 : 1);
    example.labels.resize(example.tokens.size());
    example.scored.resize(example.tokens.size());
    const std::size_t prompt = example.tokens.size();
    trained_.answer(example, {.most = trained_.task().lengths().tokens - static_cast<std::int64_t>(prompt)});
    const Tensor probabilities = trained_.probabilities(example);
    for (std::size_t p = prompt; p < example.tokens.size(); ++p) {
      const std::vector<double> row = probabilities.view().select(0, static_cast<std::int64_t>(p) - 1).to_vector();
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), example.tokens[p]) << n << " at " << p;
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const TaskInfo& info : tasks()) all.push_back(info.name);
  all.emplace_back("induction3");  // with a layer to spare
  all.emplace_back("towers");      // of the task shapes, too
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, Box, testing::ValuesIn(names()), [](const auto& made) { return made.param; });

TEST(BoxOfModels, TakesLittleRoom) {
  std::uintmax_t bytes = 0;
  for (const std::string& name : names()) bytes += std::filesystem::file_size(kBox / (name + ".safetensors"));
  EXPECT_LE(bytes, 6U << 20U);
}

// The mean of -log p over a text's tokens after the first.
double loss_of(const TrainedModel& gpt, const std::string& text) {
  const Example example = gpt.example_of(text);
  const Tensor says = gpt.probabilities(example);
  double sum = 0;
  for (std::size_t n = 1; n < example.tokens.size(); ++n) {
    sum -= std::log(says.at({static_cast<std::int64_t>(n) - 1, example.tokens[n]}));
  }
  return sum / static_cast<double>(example.tokens.size() - 1);
}

// docs/gpt.md has its perplexity on what was held out, which is not here.
TEST(SmallGpt, KnowsEnglishFromItsWords) {
  const TrainedModel& gpt = tests::boxed("gpt");
  EXPECT_LE(std::filesystem::file_size(kBox / "gpt.safetensors"), 12'000'000U);
  EXPECT_EQ(gpt.model().parameters().front().value.dtype(), DType::f16);
  EXPECT_LT(loss_of(gpt, "She was very glad to see them again in the house."),
            loss_of(gpt, "House the in again them see to glad very was she.") - 1);
  EXPECT_LT(loss_of(gpt, " And God said unto him, I am the LORD."), 4);
}

TEST(BoxOfModels, IsInTheTables) {
  for (const char* path : {"README.md", "models/README.md"}) {
    std::stringstream text;
    text << std::ifstream(std::filesystem::path(QKV_SOURCE_DIR) / path).rdbuf();
    for (const std::string& name : names()) {
      const auto card = nlohmann::json::parse(std::ifstream(kBox / (name + ".json")));
      std::array<char, 16> share{};
      std::snprintf(share.data(), share.size(), "%.2f %%", 100 * card["accuracy"].get<double>());
      EXPECT_THAT(text.str(), testing::ContainsRegex("`" + name + "` .* " + share.data())) << path;
    }
  }
}

}  // namespace
}  // namespace qkv::box_test
