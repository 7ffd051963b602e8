// What whoever reads a reply has to know of it, in the replies of every face.
#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "api/ask.h"
#include "files/temporary_directory.h"
#include "model/chat_folder.h"
#include "qkv/api/change.h"
#include "qkv/api/lens.h"
#include "qkv/api/questions.h"
#include "qkv/api/tokens.h"
#include "qkv/files.h"

namespace qkv::cautions_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A model whose config has a word that nobody knows.
class Cautions : public testing::Test {
 protected:
  Cautions() {
    tests::put_chat_model(model());
    const auto bytes = read_file(model() + "/config.json");
    std::string config(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    config.insert(config.find('{') + 1, R"("made_up_word": 3, )");
    write_file(model() + "/config.json", config);
  }

  [[nodiscard]] std::string model() const { return directory_ / "model"; }
  [[nodiscard]] Json cautions_of(const std::string& question, Json request) const {
    request["model"] = model();
    return ask(question, request.dump()).json.value("cautions", Json::array());
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(Cautions, AreInTheReplyOfEachQuestionThatReadsAModel) {
  const auto of_word = Contains(AllOf(HasSubstr("made_up_word"), HasSubstr("not read")));
  EXPECT_THAT(cautions_of("lens", {{"text", "abcabc"}}), of_word);
  EXPECT_THAT(cautions_of("change", {{"text", "abcabc"}, {"remove", {"1.0"}}}), of_word);
  EXPECT_THAT(cautions_of("change", {{"text", "abcabc"}, {"sweep", "heads"}}), of_word);
  EXPECT_THAT(cautions_of("embed", {{"text", "abcabc"}}), of_word);
  EXPECT_THAT(cautions_of("analyze", {{"texts", {"abcabc", "aabb"}}, {"importance", 0}}), of_word);
  EXPECT_THAT(cautions_of("probe", {{"text", "abcabc"}, {"stats", true}}), of_word);
  EXPECT_THAT(cautions_of("heads", {{"text", "abcabc"}}), of_word);
  EXPECT_THAT(cautions_of("far_open", {{"text", "abcabc"}}), of_word);
}

TEST_F(Cautions, StandInEachElementOfAList) {
  write_file(directory_ / "texts.txt", "abc\nbca\n");
  const Json all = ask("embed", Json{{"model", model()}, {"file", directory_ / "texts.txt"}}.dump()).json;
  ASSERT_EQ(all.size(), 2U);
  for (const Json& one : all) EXPECT_THAT(one["cautions"], Contains(HasSubstr("made_up_word")));
}

TEST_F(Cautions, OfTwoModelsSayWhoseTheyAre) {
  write_file(directory_ / "text.txt", "abcabc");
  const Json request{{"a", model()}, {"b", model()}, {"file", directory_ / "text.txt"}};
  EXPECT_THAT(ask("check", request.dump()).json["cautions"],
              ElementsAre(testing::StartsWith("A: "), testing::StartsWith("B: ")));
}

TEST_F(Cautions, AreNotesOfAnExplanation) {
  const Json reply = ask("explain", Json{{"model", model()}, {"text", "abcabc"}, {"numbers", false}}.dump()).json;
  EXPECT_THAT(reply["notes"], Contains(AllOf(HasSubstr("careful: "), HasSubstr("made_up_word"))));
}

// In every face's reply: what the command alone said before.
TEST_F(Cautions, StandBesideNotesOfHowATextWasWritten) {
  write_file(model() + "/generation_config.json", R"({"do_sample": true, "temperature": 2.5, "top_k": 9})");
  const Json text{{"model", model()}, {"text", "abc"}, {"tokens", 2}};
  const Json written = ask("generate", text.dump()).json[0];
  EXPECT_THAT(written["notes"], ElementsAre("this is the likeliest text; its generation_config.json asks for "
                                            "`temperature` 2.5 `top_k` 9"));
  EXPECT_THAT(written["cautions"], Contains(HasSubstr("made_up_word")));
  const Json chat{{"model", model()}, {"chat", true}, {"user", "hello"}, {"tokens", 2}};
  EXPECT_THAT(ask("generate", chat.dump()).json[0]["notes"],
              ElementsAre("drawn as its generation_config.json asks: `temperature` 2.5 `top_k` 9"));
  Json asked = text;
  asked["temperature"] = 1;
  EXPECT_FALSE(ask("generate", asked.dump()).json[0].contains("notes"));
}

// Of one text, and of the first of several.
TEST(CautionsOfTexts, AreInTheReplyOfEachQuestionThatReadsThem) {
  const auto cautions = [](const std::string& question, const Json& more) {
    Json request{{"model", "english"}, {"text", "small the cat"}};
    request.update(more);
    if (request["text"].is_null()) request.erase("text");
    Json reply = ask(question, request.dump()).json;
    if (reply.is_array()) reply = reply[0];
    return reply.value("cautions", Json::array());
  };
  const auto learned = Contains(HasSubstr("it learned from sentences such as"));
  EXPECT_THAT(cautions("embed", Json::object()), learned);
  EXPECT_THAT(cautions("fill", {{"text", "small the <be> cat"}}), learned);
  EXPECT_THAT(cautions("lens", Json::object()), learned);
  EXPECT_THAT(cautions("probe", {{"stats", true}}), learned);
  EXPECT_THAT(cautions("heads", Json::object()), learned);
  EXPECT_THAT(cautions("far_open", Json::object()), learned);
  EXPECT_THAT(cautions("bench", Json::object()), learned);
  const Json both{{"text", nullptr}, {"texts", {"the cats <be> small", "small the cat"}}};
  const auto second = Contains(AllOf(HasSubstr("texts[1]: "), HasSubstr("it learned from sentences such as")));
  EXPECT_THAT(cautions("embed", both), second);
  EXPECT_THAT(cautions("analyze", Json{{"importance", 0}, {"text", nullptr}, {"texts", both["texts"]}}), second);
  EXPECT_THAT(cautions("change", Json{{"remove", {"0.0"}}, {"text", nullptr}, {"texts", both["texts"]}}), second);
  EXPECT_THAT(cautions("embed", {{"text", "the cats are small"}}), testing::IsEmpty());
  EXPECT_THAT(cautions("embed", {{"text", "the cats are small"}, {"prompt", "small "}}), learned);
}

TEST(CautionsOfModels, AreLeftOutWhereThereAreNone) {
  const Json reply = ask("lens", R"({"model": "induction", "text": "abcxyzab"})").json;
  EXPECT_FALSE(reply.contains("cautions"));
}

// Each question that opens a model has a place for what there is to know of it; an explanation has its notes.
TEST(Questions, OfModelsHaveAPlaceForCautions) {
  for (const Question& question : questions()) {
    const auto of_model = [](const FieldInfo& field) { return field.name == "model" || field.name == "tokenizer"; };
    if (question.is_of_pages && question.command.empty()) continue;  // a page asks `heads` or `far_open` before
    const bool is_written = question.name == "view" || question.name == "train" || question.name == "explain";
    if (is_written || std::ranges::none_of(question.fields, of_model)) continue;
    for (const QuestionReply& reply : question.replies) {
      const bool is_list = reply.type.kind == ReplyType::Kind::list;
      const ReplyType& type = is_list ? reply.type.of.front() : reply.type;
      EXPECT_THAT(type.members, Contains(testing::Field(&ReplyMember::name, "cautions"))) << question.name;
    }
  }
}

TEST(AnyReply, IsOfItsKindAloneAndTakesCautionsWhereItHasAPlace) {
  AnyReply text = any_reply(TokensText{.text = "ab", .cautions = {}});
  ASSERT_NE(text.as<TokensText>(), nullptr);
  EXPECT_EQ(text.as<LensFigures>(), nullptr);
  text.caution({"look"});
  EXPECT_THAT(text.as<TokensText>()->cautions, ElementsAre("look"));
  AnyReply number = any_reply(BeforeAndAfter{});
  number.caution({});
  EXPECT_THROW(number.caution({"look"}), std::logic_error);
}

}  // namespace
}  // namespace qkv::cautions_test
