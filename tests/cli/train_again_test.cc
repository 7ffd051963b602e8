// qkv train --resume: what a second call keeps, and what it refuses.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/small_run.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"

namespace qkv {
namespace {

using testing::AllOf;
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

void damage(const std::string& path, const std::string& word, const std::string& value) {
  const Safetensors file = Safetensors::read(path);
  auto metadata = file.metadata();
  metadata[word] = value;
  std::vector<Tensor> tensors;
  std::vector<NamedView> views;
  for (const SafetensorsEntry& entry : file.entries()) tensors.push_back(file.load(entry.name));
  for (std::size_t n = 0; n < tensors.size(); ++n) views.push_back({file.entries()[n].name, tensors[n]});
  write_file(path, encode_safetensors(views, metadata));
}

TEST(TrainAgain, NoticesAChangeAnywhereInTheText) {
  const TemporaryDirectory directory;
  const std::string file = directory / "text.txt";
  std::string text;
  for (int n = 0; n < 4000; ++n) text += "the cat sat down. ";
  write_file(file, text);
  const std::string out = directory / "run";
  ASSERT_EQ(run_qkv({"train", "text", file, "--length", "8", "--layers", "1", "--d-model", "8", "--heads", "2",
                     "--steps", "2", "--examples", "8", "--out", out})
                .code,
            0);
  // One letter in 72,000, in the held-out end.
  std::swap(text[text.size() - 6], text[text.size() - 5]);
  write_file(file, text);
  const Outcome outcome = run_qkv({"train", "text", file, "--out", out, "--resume"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("gives other examples than those that the checkpoint was trained on"));
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

TEST(TrainAgain, NamesTheDamagedWordOfACheckpoint) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  ASSERT_EQ(run_qkv(small_run(out, "1")).code, 0);
  const std::string path = out + "/checkpoint.safetensors";
  const std::vector<std::byte> whole = read_file(path);
  const auto complaint = [&](const std::string& word, const std::string& value) {
    write_file(path, std::string_view(reinterpret_cast<const char*>(whole.data()), whole.size()));
    damage(path, word, value);
    const Outcome outcome = run_qkv(resume(out));
    EXPECT_EQ(outcome.code, 1);
    return outcome.err;
  };
  const std::string begin = "qkv train: " + path + ": ";
  EXPECT_EQ(complaint("run.dtype", "f77"), begin + "run.dtype: expected f32 or bf16, got \"f77\"\n");
  EXPECT_EQ(complaint("run.optimizer", "adamx"), begin + "run.optimizer: expected adamw or sgd, got \"adamx\"\n");
  EXPECT_EQ(complaint("run.batch", "-2"), begin + "run.batch: expected a whole number from 1 to 1048576, got -2\n");
  EXPECT_EQ(complaint("run.length", "5000"),
            begin + "run.length: expected from 4 to 4096 letters for previous, got 5000\n");
  EXPECT_EQ(complaint("run.warm_up", "x"), begin + "run.warm_up: expected a number, got \"x\"\n");
  EXPECT_EQ(complaint("run.learning_rate", "nan"), begin + "run.learning_rate: expected more than 0, got nan\n");
  EXPECT_EQ(complaint("run.report.examples", "0"),
            begin + "run.report.examples: expected a whole number from 1 to 1048576, got 0\n");
}

TEST(TrainAgain, SaysThatAModelHasNoTraining) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  ASSERT_EQ(run_qkv(small_run(out, "1")).code, 0);
  std::filesystem::rename(out + "/model.safetensors", out + "/checkpoint.safetensors");
  EXPECT_EQ(run_qkv(resume(out)).err,
            "qkv train: " + out + "/checkpoint.safetensors: a model without its training, which cannot go on\n");
}

TEST(TrainAgain, WaitsForNobodyElseInItsDirectory) {
  const TemporaryDirectory directory;
  const std::string out = directory / "run";
  ASSERT_EQ(run_qkv(small_run(out, "1")).code, 0);
  const int held = ::open(out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const Outcome outcome = run_qkv(resume(out));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "qkv train: another qkv train is at work in " + out + "\n");
  ::close(held);
  EXPECT_EQ(run_qkv(resume(out)).code, 0);
}

TEST(TrainAgain, QuotesWhatTheShellWouldPart) {
  const TemporaryDirectory directory;
  const std::string out = directory / "my run";
  const Outcome outcome = tests::run_qkv_interrupted(small_run(out, "1000000"));
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("go on with: qkv train previous --out '" + out + "' --resume\n"));
}

}  // namespace
}  // namespace qkv
