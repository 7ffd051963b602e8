// What changes of a model of the box look like as JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "qkv/api/change.h"
#include "qkv/insight/texts.h"
#include "qkv/train/trained_model.h"

namespace qkv::change_figures_test {
namespace {

using Json = nlohmann::json;

TrainedModel induction() { return TrainedModel::read(trained_model_path("induction")); }

ChangeQuestion question_of(const std::vector<std::string>& interventions) {
  ChangeQuestion question{.of = {.text = "abcxyzb"}};
  for (const std::string& each : interventions) question.interventions.push_back(parse_intervention(each));
  return question;
}

template <class Figures>
Json json_of(const Figures& figures) {
  return Json::parse(reply_as_json(figures));
}

TEST(ChangeFigures, SayTheAnswerBeforeAndAfter) {
  const ChangeQuestion question = question_of({"remove 1.0", "freeze norms"});
  const Json json = json_of(change_figures(change_text(induction(), question), question, "induction"));
  EXPECT_EQ(json["interventions"], (Json{"remove 1.0", "freeze norms"}));
  EXPECT_EQ(json["answer"]["piece"], "c");
  EXPECT_EQ(json["divergence"].size(), 7U);
  for (const char* of_others : {"from_text", "from_tokens", "cosine", "vector_cosine", "against"}) {
    EXPECT_FALSE(json.contains(of_others)) << of_others;
  }
}

TEST(ChangeFigures, SayTheLossOfManyTexts) {
  const TrainedModel trained = induction();
  const ChangeQuestion question = question_of({"remove 1.0"});
  const LossChange change = change_texts(trained, head_texts(trained, 16).texts, question);
  const Json json = json_of(change_figures(change, question, "induction"));
  EXPECT_EQ(json["texts"], 16);
  EXPECT_GT(json["loss"]["after"], json["loss"]["before"]);
  EXPECT_FALSE(json.contains("vector_cosine"));
}

TEST(ChangeFigures, OfStatesSayCosinesAlone) {
  const ChangeQuestion question = question_of({});
  const TextChange change{.tokens = {"a"}, .state_cosines = {0.5}, .vector_cosine = 0.25};
  EXPECT_EQ(reply_as_line(change_figures(change, question, "m")),
            "{\"model\":\"m\",\"interventions\":[],\"tokens\":[\"a\"],\"place\":0,\"state_cosines\":[0.5],"
            "\"vector_cosine\":0.25,\"sentence\":\"The text's vector before and after: cosine 0.2500.\"}\n");
  const LossChange pairs{.texts = 2, .pair = PairChange{.before = 0.5, .after = 1}};
  EXPECT_EQ(reply_as_line(change_figures(pairs, question, "m")),
            "{\"model\":\"m\",\"interventions\":[],\"texts\":2,\"cosine\":{\"before\":0.5,\"after\":1.0}}\n");
}

TEST(SweepFigures, HaveARowForEachLayer) {
  const ChangeQuestion question = question_of({});
  const Json json = json_of(sweep_figures(sweep_heads(induction(), question), question, "induction"));
  EXPECT_EQ(json["maps"][0]["changes"].size(), 2U);
  EXPECT_EQ(json["maps"][0]["rows"], (Json{"0", "1"}));
  EXPECT_FALSE(json.contains("other"));
}

}  // namespace
}  // namespace qkv::change_figures_test
