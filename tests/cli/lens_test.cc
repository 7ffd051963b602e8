// qkv lens.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"

namespace qkv::lens_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(LensCommand, SaysWhatEachLayerWouldSay) {
  const Outcome outcome = run_qkv({"lens", "induction", "abcxyzb"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("induction: what each layer would say after each token\n"));
  EXPECT_THAT(outcome.out, HasSubstr("What adds up to the logit of “c”"));
}

TEST(LensCommand, WritesPicturesAndJson) {
  const tests::TemporaryDirectory directory;
  const std::string picture = directory / "lens.svg";
  const Outcome outcome = run_qkv({"lens", "reverse", "--example", "0", "--query", "1", "--svg", picture, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["place"], 1);
  EXPECT_TRUE(std::filesystem::exists(picture));
}

TEST(LensCommand, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(
      refusal({"lens", "induction"}),
      HasSubstr("MODEL: expected TEXT, --example, --picture, --sound, --user or --messages beside it, got none"));
  EXPECT_THAT(refusal({"lens", "induction", "abc", "--token", "xy"}),
              HasSubstr("--token: expected one token of the model"));
  EXPECT_THAT(refusal({"lens", "induction", "abc", "--width", "9"}), HasSubstr("--width: expected"));
}

}  // namespace
}  // namespace qkv::lens_test
