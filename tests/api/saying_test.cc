// Who hears what an answer is careful with, and who opens the model that it is about.
#include "qkv/api/saying.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "ask.h"
#include "qkv/api/lens.h"
#include "qkv/api/models.h"
#include "qkv/api/texts.h"
#include "qkv/error.h"

namespace qkv::saying_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LensRequest outside_its_task() { return {.model = "reverse", .of = {.text = "hello"}}; }

TEST(Saying, IsHeardByItsThreadWhereNobodyElseHears) {
  std::vector<std::string> outer;
  std::vector<std::string> inner;
  std::vector<std::string> own;
  const HearsCautions hears([&](const std::string& what) { outer.push_back(what); });
  {
    const HearsCautions first([&](const std::string& what) { inner.push_back(what); });
    static_cast<void>(answer(outside_its_task()));
  }
  EXPECT_THAT(inner, ElementsAre(HasSubstr("learned")));
  EXPECT_THAT(outer, IsEmpty());
  static_cast<void>(found_lens(outside_its_task(), {.caution = [&](const std::string& what) { own.push_back(what); }}));
  EXPECT_EQ(own, inner);
  EXPECT_THAT(outer, IsEmpty());
  std::thread([] { static_cast<void>(answer(outside_its_task())); }).join();
  EXPECT_THAT(outer, IsEmpty());
  static_cast<void>(answer(outside_its_task()));
  EXPECT_EQ(outer, inner);
  EXPECT_TRUE(Saying().is_heard());
}

TEST(Saying, IsHeardOfNobodyElsewhere) {
  EXPECT_FALSE(Saying().is_heard());
  Saying().careful("nothing");
}

TEST(OpensModels, IsAskedForEachModelOfItsThread) {
  const OpenedModel reverse = open_model("reverse");
  std::vector<std::pair<std::string, QuantisedWeights>> asked;
  const OpensModels opens([&](const std::string& name, QuantisedWeights quantised) {
    asked.emplace_back(name, quantised);
    return reverse;
  });
  LensRequest request = outside_its_task();
  request.model = "./nowhere";
  EXPECT_EQ(answer(request).model, "./nowhere");
  EXPECT_THAT(asked, ElementsAre(std::pair("./nowhere", QuantisedWeights::as_f32)));
}

// One text, several, and those of a file are the same question.
TEST(SeveralTexts, AreAnsweredAsEachByItself) {
  const Json both = ask("embed", R"({"model": "english", "texts": ["the cats are small", "the dogs are near"]})").json;
  const Json one = ask("embed", R"({"model": "english", "text": "the dogs are near"})").json;
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both[1], one);
  const Json written = ask("generate", R"({"model": "copy", "texts": ["abc", "de"], "tokens": 9})").json;
  ASSERT_EQ(written.size(), 2);
  EXPECT_EQ(written[0]["prompt"], "abc");
  EXPECT_EQ(written[1]["text"], "de");
  const Json changed =
      ask("change", R"({"model": "induction", "texts": ["abcabc", "xyzxyz"], "remove": ["1.0"]})").json;
  EXPECT_EQ(changed["texts"], 2);
  EXPECT_GT(changed["loss"]["after"], changed["loss"]["before"]);
}

TEST(SeveralTexts, AreNamedByTheirPlace) {
  EXPECT_EQ(refused_field("embed", R"({"model": "english", "texts": ["the cats", "qq 7"]})"), "texts[1]");
  EXPECT_EQ(refused_field("generate", R"({"model": "copy", "texts": ["abc", "7"]})"), "texts[1]");
  EXPECT_EQ(refused_field("embed", R"({"model": "english", "text": "a", "texts": ["a"]})"), "text, texts");
}

}  // namespace
}  // namespace qkv::saying_test
