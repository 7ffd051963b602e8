// qkv train --resume: what a second call keeps, and what it refuses.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/small_run.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"

namespace qkv::train_again_test {
namespace {

using testing::HasSubstr;
using tests::log_of;
using tests::Outcome;
using tests::run_qkv;
using tests::small_run;
using tests::TemporaryDirectory;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words resume(const std::string& directory, const Words& more = {}) {
  Words words = {"train", "previous", "--out", directory, "--resume"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(TrainAgain, ReportsTheWholeRun) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  Words words = small_run(out, "6");
  words.insert(words.end(), {"--examine-every", "2", "--save-every", "3", "--json"});
  const Json once = Json::parse(run_qkv(words).out);
  // As if the goal had been met and a day had passed.
  std::vector<Json> lines = log_of(out + "/log.jsonl");
  ASSERT_EQ(lines.size(), 6U);
  lines[1]["accuracy"] = 1.0;
  lines[5]["seconds"] = 86400.0;
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  write_file(out + "/log.jsonl", text);
  const Outcome outcome = run_qkv(resume(out, {"--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json again = Json::parse(outcome.out);
  EXPECT_EQ(again["examples"], 4 * 8);
  EXPECT_EQ(again["examples"], once["examples"]);
  EXPECT_EQ(again["accuracy"], once["accuracy"]);
  EXPECT_EQ(again["reached_at"]["step"], 2);
  EXPECT_EQ(again["reached_at"]["seconds"], lines[1]["seconds"]);
  EXPECT_GE(again["seconds"], 86400.0);
  EXPECT_EQ(Json::parse(run_qkv(resume(out, {"--json", "--examples", "5"})).out)["examples"], 20);
}

TEST(TrainAgain, SaysThatAModelHasNoTraining) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  ASSERT_EQ(run_qkv(small_run(out, "1")).code, 0);
  std::filesystem::rename(out + "/model.safetensors", out + "/checkpoint.safetensors");
  const Outcome outcome = run_qkv(resume(out));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err,
            "qkv train: --out: " + out + "/checkpoint.safetensors: a model without its training, which cannot go on\n");
}

TEST(TrainAgain, QuotesWhatTheShellWouldPart) {
  const TemporaryDirectory directory;
  const std::string out = directory / "my run";
  const Outcome outcome = tests::run_qkv_interrupted(small_run(out, "1000000"));
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("go on with: qkv train previous --out '" + out + "' --resume\n"));
}

}  // namespace
}  // namespace qkv::train_again_test
