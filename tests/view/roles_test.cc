// What heads do, and what a change does.
#include "qkv/view/roles.h"

#include <gtest/gtest.h>

#include "ask.h"

namespace qkv {
namespace {

TEST(RolesQuestion, SaysWhatEachHeadDoes) {
  const Answer answer = ask("roles", R"({"model": "induction", "count": 8, "importance": 4})");
  ASSERT_EQ(answer.json["heads"].size(), 2U);
  EXPECT_FALSE(answer.json["heads"][0]["word"].get<std::string>().empty());
  EXPECT_EQ(answer.json["heads"][1]["word"], "induction");
  EXPECT_GT(answer.json["heads"][1]["induction"].get<double>(), 0.8);
  EXPECT_GT(answer.json["heads"][1]["removal"].get<double>(), 1);
  EXPECT_EQ(answer.json["heads"][1]["shares"].size(), answer.json["patterns"].size());
}

TEST(RolesQuestion, ReadsOwnTexts) {
  const Answer answer = ask("roles", R"({"model": "induction", "texts": "abcab\nxyzxy\n", "importance": 0})");
  EXPECT_EQ(answer.json["tokens"], 10);
  EXPECT_TRUE(answer.json["heads"][0]["removal"].is_null());
  EXPECT_THROW(ask("roles", R"({"model": "induction", "texts": "ABC"})"), InvalidArgument);
}

TEST(RolesQuestion, StopsWhenAsked) {
  Studio studio;
  const StudioWatch stop = [](std::string_view, const ProbeProgress&) { return Proceed::stop; };
  EXPECT_THROW(static_cast<void>(studio.ask("roles", R"({"model": "induction"})", stop)), Cancelled);
}

TEST(ChangeQuestion, RemovesTheHeadThatInducts) {
  const Answer answer = ask("change", R"({"model": "induction", "text": "abcxyzab", "changes": "remove 1.0"})");
  EXPECT_EQ(answer.json["answer"]["token"], "c");
  EXPECT_GT(answer.json["answer"]["before"]["probability"].get<double>(), 0.9);
  EXPECT_LT(answer.json["answer"]["after"]["probability"].get<double>(), 0.5);
  EXPECT_EQ(answer.json["changes"], Json({"remove 1.0"}));
}

TEST(ChangeQuestion, RefusesWhatHasNoMeaning) {
  const std::string start = R"({"model": "induction", "text": "abcxyzab", "changes": )";
  EXPECT_EQ(refused_field("change", start + R"("remove 5.0"})"), "changes");
  EXPECT_EQ(refused_field("change", start + R"("", "token": "é"})"), "token");
  EXPECT_EQ(refused_field("change", start + R"("", "against": "é"})"), "against");
  EXPECT_EQ(refused_field("change", start + R"("", "from_text": "é"})"), "from_text");
  EXPECT_EQ(refused_field("change", start + R"("remove 1.0; twist 3"})"), "changes");
  EXPECT_EQ(refused_field("change", R"({"model": "induction"})"), "text");
}

}  // namespace
}  // namespace qkv
