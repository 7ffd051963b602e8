// qkv change.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::change_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(ChangeCommand, SaysWhatARemovedHeadDoes) {
  const Outcome outcome = run_qkv({"change", "induction", "abcxyzb", "--remove", "1.0"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("induction: remove 1.0\n\nWhat is said at 6 “b”\n"));
  EXPECT_THAT(outcome.out, HasSubstr("expected\n"));
}

TEST(ChangeCommand, TakesSeveralChangesAtOnce) {
  const Outcome outcome =
      run_qkv({"change", "induction", "abcxyzb", "--cut", "1.0=6:2", "--cut", "1.0=6:3", "--pattern", "0.0=uniform",
               "--patch", "blocks.0.ffn@1", "--from-text", "abcxyzx", "--freeze-norms", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["interventions"],
            (Json{"patch blocks.0.ffn@1", "cut 1.0=6:2", "cut 1.0=6:3", "pattern 0.0=uniform", "freeze norms"}));
  EXPECT_EQ(json["against"]["piece"], "y");
}

TEST(ChangeCommand, MeasuresTheLossOverAFileAndOverExamples) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  write_file(file, "abcxyzb\nqwertyqw\n");
  const Outcome over = run_qkv({"change", "induction", "--file", file, "--remove", "1.0", "--json"});
  EXPECT_EQ(over.code, 0) << over.err;
  EXPECT_EQ(Json::parse(over.out)["texts"], 2);
  const Outcome table = run_qkv({"change", "induction", "--examples", "4", "--remove", "1.0"});
  EXPECT_THAT(table.out, HasSubstr("\naccuracy "));
}

TEST(ChangeCommand, TakesFromAnotherExample) {
  const Outcome outcome =
      run_qkv({"change", "shapes", "--example", "0", "--from-example", "0", "--patch", "encoder", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["from_example"], 0);
  EXPECT_EQ(json["answer"]["before"], json["answer"]["after"]);
  const Outcome towers = run_qkv({"change", "towers", "--example", "0", "--remove", "source:*.*"});
  EXPECT_THAT(towers.out, HasSubstr("\nThe cosine of picture and text: 0."));
}

TEST(ChangeCommand, DrawsSweeps) {
  const tests::TemporaryDirectory directory;
  const std::string heads = directory / "heads.svg";
  const Outcome outcome = run_qkv({"change", "induction", "abcxyzb", "--sweep", "heads", "--svg", heads});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("log-probability of “c”: -0.0019 before; its change:"));
  EXPECT_THAT(outcome.out, HasSubstr("\nthe largest, tokens: 1.0 -"));
  EXPECT_THAT(outcome.out, HasSubstr("picture   " + heads));
  EXPECT_TRUE(std::filesystem::exists(heads));
  const Outcome places =
      run_qkv({"change", "induction", "abcxyzb", "--from-text", "abkxyzb", "--sweep", "places", "--json"});
  EXPECT_EQ(places.code, 0) << places.err;
  EXPECT_EQ(Json::parse(places.out)["maps"][0]["rows"][0], "input");
}

TEST(ChangeCommand, WarnsOfATextThatTheTaskDoesNotDraw) {
  const Outcome outcome = run_qkv({"change", "reverse", "hello", "--remove", "cross:0.0"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, StartsWith("qkv change: careful: "));
  EXPECT_THAT(run_qkv({"lens", "reverse", "hello"}).err, StartsWith("qkv lens: careful: "));
}

TEST(ChangeCommand, RefusesWhatHasNoMeaning) {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"change", "induction"});
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(
      refusal({}),
      HasSubstr(
          "MODEL: expected TEXT, --example, --picture, --sound, --user, --messages, --file, --line or --examples"));
  EXPECT_THAT(refusal({"abc", "--example", "1"}),
              HasSubstr("--example: expected it without TEXT (a model reads one of them), got both"));
  EXPECT_THAT(refusal({"abc", "--remove", "x"}), HasSubstr("--remove: expected LAYER.HEAD"));
  EXPECT_THAT(refusal({"abc", "--remove", "2.0"}), HasSubstr("--remove: expected a layer from 0 to 1, got 2"));
  EXPECT_THAT(refusal({"abc", "--patch", "blocks.1"}), HasSubstr("--from-text: expected another text"));
  EXPECT_THAT(refusal({"abc", "--query", "q", "--remove", "1.0"}), HasSubstr("--query: expected one of the tokens"));
  EXPECT_THAT(refusal({"abc", "--sweep", "places"}), HasSubstr("--from-text: expected the text to patch from"));
  EXPECT_THAT(refusal({"abc", "--svg", "a.svg"}), HasSubstr("--svg: expected --sweep beside it, got none"));
  EXPECT_EQ(refusal({"abc"}),
            "qkv change: --remove, --pattern, --cut, --patch, --set, --change, --freeze-norms, --sweep, --untouched: "
            "expected one of them, got none\n");
  EXPECT_THAT(
      refusal({"abcabc", "--remove", "1.0", "--pattern", "1.*=uniform"}),
      HasSubstr("--pattern: expected a head that is not removed as well, got pattern 1.*=uniform and remove 1.0"));
  EXPECT_THAT(refusal({"abcxyzab", "--patch", "blocks.0", "--from-example", "3"}),
              HasSubstr("--from-example: expected a text of "));
  EXPECT_THAT(refusal({"ab9", "--remove", "1.0"}), HasSubstr("TEXT: expected a piece of the vocabulary"));
  EXPECT_THAT(refusal({"--examples", "4", "--sweep", "heads"}),
              HasSubstr("--sweep: expected it without --examples (`qkv analyze` measures"));
  EXPECT_THAT(refusal({"--examples", "4", "--token", "a"}),
              HasSubstr("--token: expected it without --examples (it is of one text), got both"));
}

}  // namespace
}  // namespace qkv::change_test
