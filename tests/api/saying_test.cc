// Who hears what an answer is careful with, and who opens the model that it is about.
#include "qkv/api/saying.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>
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
using testing::Pair;

LensRequest outside_its_task() { return {.model = "reverse", .of = {.text = "hello"}}; }

TEST(Saying, HearsWhatAnAnswerIsCarefulWith) {
  std::vector<std::string> said;
  static_cast<void>(answer(outside_its_task(), {.caution = [&](const std::string& what) { said.push_back(what); }}));
  EXPECT_THAT(said, ElementsAre(HasSubstr("learned")));
  Saying().careful("nothing");
}

TEST(OpensModels, IsAskedForEachModelOfItsThread) {
  const OpenedModel reverse = open_model("reverse");
  std::vector<std::pair<std::string, std::optional<ModelNumbers>>> asked;
  const OpensModels opens([&](const std::string& name, std::optional<ModelNumbers> numbers) {
    asked.emplace_back(name, numbers);
    return reverse;
  });
  LensRequest request = outside_its_task();
  request.model = "./nowhere";
  EXPECT_EQ(answer(request).model, "./nowhere");
  request.dtype = "f64";
  static_cast<void>(answer(request));
  EXPECT_THAT(asked, ElementsAre(Pair("./nowhere", std::nullopt), Pair("./nowhere", ModelNumbers::f64)));
}

// One text, several, and those of a file are the same question.
TEST(SeveralTexts, AreAnsweredAsEachByItself) {
  const Json both = ask("embed", R"({"model": "english", "texts": ["the cats are small", "the dogs are small"]})").json;
  const Json one = ask("embed", R"({"model": "english", "text": "the dogs are small"})").json;
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
