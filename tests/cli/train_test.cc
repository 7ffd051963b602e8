#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.h"
#include "cli/small_run.h"
#include "files/temporary_directory.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"

namespace qkv::train_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::log_of;
using tests::Outcome;
using tests::run_qkv;
using tests::small_run;
using tests::TemporaryDirectory;

using Words = std::vector<std::string>;

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Train, WritesModelCheckpointLogAndPicture) {
  const TemporaryDirectory directory;
  Words words = small_run(directory / "run", "6");
  words.insert(words.end(), {"--examine-every", "3"});
  const Outcome outcome = run_qkv(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("previous: 6 steps in "), HasSubstr("answers are as expected (goal 99 %)"),
                                 HasSubstr("pattern previous"), HasSubstr("layer 0")));
  const std::string path = directory / "run";
  EXPECT_TRUE(std::filesystem::exists(path + "/loss.svg"));
  EXPECT_TRUE(std::filesystem::exists(path + "/loss.png"));
  EXPECT_TRUE(std::filesystem::exists(path + "/model.safetensors"));
  const auto lines = log_of(path + "/log.jsonl");
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[5]["step"], 6);
  EXPECT_TRUE(lines[2].contains("accuracy"));
  EXPECT_FALSE(lines[3].contains("accuracy"));
  EXPECT_TRUE(lines[5].contains("held_out_loss"));
  EXPECT_THAT(text_of(path + "/loss.svg"), AllOf(HasSubstr("previous, decoder"), HasSubstr("held out")));
  EXPECT_EQ(lines[5]["learning_rate"], 0.0);
}

TEST(Train, PrintsJson) {
  const TemporaryDirectory directory;
  Words words = small_run(directory / "run", "1");
  words.emplace_back("--json");
  const auto json = nlohmann::json::parse(run_qkv(words).out);
  EXPECT_EQ(json["task"], "previous");
  EXPECT_EQ(json["steps"], 1);
  ASSERT_EQ(json["patterns"].size(), 1U);
  EXPECT_EQ(json["patterns"][0]["relation"], "previous");
  EXPECT_EQ(json["patterns"][0]["layers"].size(), 1U);
  EXPECT_EQ(json["patterns"][0]["layers"][0].size(), 2U);
  EXPECT_EQ(json["patterns"][0]["best"]["layer"], 0);
}

pid_t start(Words words, const char* err = "/dev/null") {
  words.insert(words.begin(), QKV_COMMAND);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err, O_WRONLY | O_NOCTTY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, QKV_COMMAND, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : 0;
}

// What `qkv train TASK` takes of itself can read the task, and has heads where its patterns are.
TEST(Train, EveryTaskHasAModelWithItsPatterns) {
  for (const char* task : {"copy", "reverse", "sort", "previous", "induction", "brackets", "addition", "english",
                           "translation", "shapes"}) {
    SCOPED_TRACE(task);
    const TemporaryDirectory directory;
    const Outcome outcome = run_qkv(
        {"train", task, "--steps", "1", "--batch", "2", "--examples", "2", "--json", "--out", directory / "run"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_FALSE(json["patterns"].empty());
    for (const auto& pattern : json["patterns"]) EXPECT_FALSE(pattern["layers"].empty()) << pattern;
  }
}

TEST(Train, SaysNothingOfAPatternWithoutRows) {
  const TemporaryDirectory directory;
  const Words words = {"train",      "english",  "--steps", "1",         "--batch", "2",     "--heads",
                       "2",          "--layers", "1",       "--d-model", "16",      "--out", directory / "run",
                       "--examples", "1"};
  // The one example has a verb, but no hidden determiner.
  EXPECT_THAT(run_qkv(words).out, AllOf(testing::ContainsRegex("subject-verb[^\n]*\n  layer 0   0\\.[0-9]"),
                                        testing::ContainsRegex("determiner-noun[^\n]*\n  layer 0 +- +-\n")));
}

TEST(Train, SaysOnATerminalThatItExamines) {
  const TemporaryDirectory directory;
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ::grantpt(terminal) != 0) {
    GTEST_SKIP() << "needs a terminal: " << std::strerror(errno) << " (is /dev/pts mounted?)";
  }
  ASSERT_EQ(::unlockpt(terminal), 0);
  const pid_t child = start(small_run(directory / "run", "2"), ::ptsname(terminal));
  ASSERT_NE(child, 0);
  std::string shown;
  std::array<char, 4096> some{};
  for (ssize_t n = 0; (n = ::read(terminal, some.data(), some.size())) > 0;) {
    shown.append(some.data(), static_cast<std::size_t>(n));
  }
  ::close(terminal);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(shown, AllOf(HasSubstr("step 2  loss "), HasSubstr("previous: 32 held-out examples are examined")));
}

TEST(Train, CtrlCSavesAndResumeGoesOnBitForBit) {
  const TemporaryDirectory directory;
  const std::string steps = "400";
  ASSERT_EQ(run_qkv(small_run(directory / "whole", steps)).code, 0);
  const pid_t child = start(small_run(directory / "parts", steps));
  ASSERT_NE(child, 0);
  while (log_of(directory / "parts/log.jsonl").size() < 10 && ::waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::exists(directory / "parts/model.safetensors"));
  const Outcome outcome = run_qkv({"train", "previous", "--out", directory / "parts", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* name : {"checkpoint.safetensors", "model.safetensors"}) {
    EXPECT_EQ(read_file(directory / (std::string("whole/") + name)),
              read_file(directory / (std::string("parts/") + name)))
        << name;
  }
  const auto whole = log_of(directory / "whole/log.jsonl");
  const auto parts = log_of(directory / "parts/log.jsonl");
  ASSERT_EQ(whole.size(), parts.size());
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_EQ(whole[n]["loss"], parts[n]["loss"]) << n;
}

TEST(Train, TakesGradientDescentAndBf16) {
  const TemporaryDirectory directory;
  for (const Words& more :
       {Words{"--optimizer", "sgd", "--momentum", "0.5", "--learning-rate", "0.1"}, Words{"--dtype", "bf16"}}) {
    Words words = small_run(directory / more.back(), "60");
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = log_of(directory / (more.back() + "/log.jsonl"));
    ASSERT_EQ(lines.size(), 60U);
    EXPECT_LT(lines.back()["loss"].get<double>(), lines.front()["loss"].get<double>());
  }
}

TEST(Train, LearnsATextOfTheReaders) {
  const TemporaryDirectory directory;
  const std::string file = directory / "text.txt";
  std::string text;
  for (int n = 0; n < 200; ++n) text += "the cat sat down. ";
  write_file(file, text);
  const std::string out = directory / "run";
  const Outcome outcome = run_qkv({"train", "text", file, "--length", "16", "--layers", "1", "--d-model", "16",
                                   "--steps", "4", "--examples", "8", "--out", out});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("answers are as expected, loss "), testing::Not(HasSubstr("goal"))));
  write_file(file, text + "And up again");
  EXPECT_THAT(run_qkv({"train", "text", file, "--out", out, "--resume"}).err,
              HasSubstr("gives other examples than those that the checkpoint was trained on"));
}

TEST(Train, GoesOnFromAModelOfTheBox) {
  const TemporaryDirectory directory;
  const std::string file = directory / "text.txt";
  std::string text;
  for (int n = 0; n < 300; ++n) text += "the zebra sat down on the moon. ";
  write_file(file, text);
  const std::string out = directory / "run";
  const Words words = {"train",   "text",       file,      "--from", "gpt",       "--length", "24",
                       "--steps", "8",          "--batch", "4",      "--warm-up", "2",        "--learning-rate",
                       "1e-3",    "--examples", "4",       "--json", "--out",     out};
  const Outcome outcome = run_qkv(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["model"]["layers"], "4");
  const auto lines = log_of(out + "/log.jsonl");
  EXPECT_LT(lines.back()["loss"].get<double>(), 0.7 * lines.front()["loss"].get<double>());
  EXPECT_THAT(run_qkv({"generate", out + "/model.safetensors", "the zebra sat", "--tokens", "4"}).out,
              HasSubstr("the zebra sat down"));
  const auto refused = [&](const Words& more) {
    Words all = {"train", "text", file, "--from", "gpt", "--out", directory / "none"};
    all.insert(all.end(), more.begin(), more.end());
    return run_qkv(all).err;
  };
  EXPECT_EQ(refused({"--layers", "2"}),
            "qkv train: --layers: expected it without --from (that model has its own), got both\n");
  EXPECT_EQ(run_qkv({"train", "copy", "--from", "gpt"}).err,
            "qkv train: --from: expected TASK text beside it, got copy\n");
}

TEST(Train, SaysThatQuantisedWeightsAreTrainedAsNumbers) {
  const TemporaryDirectory directory;
  write_file(directory / "m.gguf", tests::llama_with_letters(core::BlockType::q4_1));
  std::string text;
  for (int n = 0; n < 800; ++n) text += static_cast<char>('A' + n * n % 23);
  write_file(directory / "text.txt", text);
  const auto train = [&](const std::string& from, const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",
                                      "text",
                                      directory / "text.txt",
                                      "--from",
                                      from,
                                      "--out",
                                      directory / out,
                                      "--steps",
                                      "1",
                                      "--batch",
                                      "1",
                                      "--length",
                                      "8",
                                      "--examples",
                                      "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.err;
  };
  const std::string blocks = directory / "m.gguf";
  const std::string said =
      "qkv train: careful: the weights of " + blocks + " are quantised: their f32 values are trained, and ";
  EXPECT_EQ(train(blocks, "a", {}), said + "f32 is written\n");
  EXPECT_EQ(train(blocks, "b", {"--store", "f16"}), said + "f16 is written\n");
  EXPECT_EQ(train(directory / "a/model.safetensors", "c", {}), "");
}

TEST(Train, LearnsPicturesOfTheReaders) {
  const TemporaryDirectory directory;
  const std::string pictures = directory / "pictures";
  std::filesystem::create_directory(pictures);
  for (const char* mask : {"causal", "window(2)", "global(1)", "strided(2)"}) {
    const std::string name = pictures + "/" + std::string(mask, 3);
    ASSERT_EQ(run_qkv({"mask", mask, "--tq", "8", "--tk", "8", "--png", name + ".png"}).code, 0);
    write_file(name + ".txt", std::string("a mask: ") + mask);
  }
  for (const std::string model : {"captioner", "two-tower"}) {
    const Outcome outcome = run_qkv({"train",
                                     "pictures",
                                     pictures,
                                     "--model",
                                     model,
                                     "--image-side",
                                     "16",
                                     "--patch-side",
                                     "8",
                                     "--layers",
                                     "1",
                                     "--d-model",
                                     "16",
                                     "--steps",
                                     "3",
                                     "--batch",
                                     "2",
                                     "--examples",
                                     "2",
                                     "--out",
                                     directory / model});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("pictures: 3 steps in "));
  }
  std::filesystem::remove(pictures + "/cau.txt");
  EXPECT_THAT(run_qkv({"train", "pictures", pictures, "--out", directory / "none"}).err, HasSubstr("cau.png"));
}

TEST(Train, ADivergingRunStopsWithTheStepAndTheTensor) {
  const TemporaryDirectory directory;
  Words words = small_run(directory / "run", "20");
  words.insert(words.end(), {"--learning-rate", "1e20", "--schedule", "constant"});
  const Outcome outcome = run_qkv(words);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("; the first tensor that went bad: "), HasSubstr(" in blocks."),
                                 HasSubstr("run\" holds the last checkpoint: to begin anew, say with a lower "
                                           "--learning-rate, name another --out or empty it")));
  // The step after the last one of the log.
  const std::size_t done = log_of(directory / "run/log.jsonl").size();
  ASSERT_GT(done, 0U);
  EXPECT_THAT(outcome.err, HasSubstr("qkv train: step " + std::to_string(done + 1) + ": "));
  EXPECT_TRUE(std::filesystem::exists(directory / "run/loss.svg"));
}

TEST(Train, RefusesMoreThanAMachineCanHold) {
  const TemporaryDirectory directory;
  const auto refused = [&](const Words& more) {
    Words words = {"train", "copy", "--out", directory / "none"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refused({"--layers", "5000"}), "qkv train: --layers: expected a whole number from 1 to 1024, got 5000\n");
  EXPECT_EQ(refused({"--layers", "0"}), "qkv train: --layers: expected a whole number from 1 to 1024, got 0\n");
  EXPECT_EQ(refused({"--batch", "9999999"}),
            "qkv train: --batch: expected a whole number from 1 to 1048576, got 9999999\n");
  EXPECT_EQ(refused({"--examples", "9999999"}),
            "qkv train: --examples: expected a whole number from 1 to 1048576, got 9999999\n");
  EXPECT_EQ(refused({"--d-model", "65536", "--layers", "9"}),
            "qkv train: --d-model: expected a model of at most 2147483648 parameters, got 154637697024 in its blocks "
            "alone\n");
  EXPECT_THAT(refused({"--batch", "1000000", "--d-model", "1024"}),
              AllOf(HasSubstr("--batch: expected at most "), HasSubstr(" places with 1024 numbers each, got 1000000")));
  EXPECT_EQ(refused({"--seed", "-1"}),
            "qkv train: --seed: expected a whole number from 0 to 18446744073709551615, got -1\n");
  EXPECT_EQ(refused({"--learning-rate", "nan"}), "qkv train: --learning-rate: expected a finite number, got nan\n");
  EXPECT_EQ(refused({"--learning-rate", "-1"}),
            "qkv train: --learning-rate: expected a number above 0, up to 1e38, got -1\n");
  EXPECT_EQ(refused({"--clip", "0"}), "qkv train: --clip: expected a number above 0, up to 1e38, got 0\n");
  EXPECT_EQ(refused({"--model", "captioner"}),
            "qkv train: --model: expected a task with images for a model of kind captioner, got copy\n");
  EXPECT_THAT(refused({"--threads", "0"}), HasSubstr("--threads: expected a whole number from 1 to 65536, got 0"));
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(Train, RefusesWhatHasNoMeaning) {
  const TemporaryDirectory directory;
  const auto refused = [&](const Words& more) {
    Words words = small_run(directory / "none", "2");
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refused({"--dtype", "f16"}), "qkv train: --dtype: expected f32 or bf16, got \"f16\"; did you mean bf16?\n");
  EXPECT_EQ(refused({"--optimizer", "adam"}),
            "qkv train: --optimizer: expected adamw or sgd, got \"adam\"; did you mean adamw?\n");
  EXPECT_EQ(refused({"--momentum", "1"}), "qkv train: --momentum: expected a number from 0, below 1, got 1\n");
  EXPECT_EQ(refused({"--save-every", "0"}),
            "qkv train: --save-every: expected a whole number from 1 to 1099511627776, got 0\n");
  EXPECT_EQ(refused({"--schedule", "linear"}), "qkv train: --schedule: expected cosine or constant, got \"linear\"\n");
  EXPECT_EQ(refused({"--resume"}),
            "qkv train: --layers: expected it without --resume (a run goes on with the settings it began with), got "
            "both\n");
  EXPECT_THAT(directory.names(), IsEmpty());
  EXPECT_EQ(run_qkv({"train", "previous", "--out", directory / "none", "--resume"}).err,
            "qkv train: --resume: expected a checkpoint in \"" + (directory / "none") + "\", got none\n");
  const Outcome heads = run_qkv({"train", "previous", "--heads", "3", "--out", directory / "heads"});
  EXPECT_EQ(heads.code, 2);
  EXPECT_THAT(
      heads.err,
      HasSubstr("heads: expected a divisor of --d-model, 32, since each head has --d-model / --heads of it, got 3"));
  EXPECT_THAT(run_qkv({"train", "sorted", "--out", directory / "none"}).err,
              AllOf(HasSubstr("train: TASK: expected one of "), HasSubstr("shapes, text, pictures, tokenizer, got"),
                    HasSubstr("; did you mean sort?")));
  EXPECT_THAT(run_qkv({"train", "shapes", "--model", "decoder", "--out", directory / "none"}).err,
              HasSubstr("train: --model: expected a task without images for a model of kind decoder, got shapes"));
  EXPECT_EQ(run_qkv({"train", "copy", "--tokenizer", "t.json", "--out", directory / "none"}).err,
            "qkv train: --tokenizer: expected TASK text beside it, got copy\n");
  EXPECT_EQ(run_qkv({"train", "text", "--out", directory / "none"}).err,
            "qkv train: DATA: expected a file for text, got none\n");
  EXPECT_EQ(run_qkv({"train", "copy", "--image-side", "8", "--out", directory / "none"}).err,
            "qkv train: --image-side: expected TASK pictures beside it, got copy\n");
  EXPECT_EQ(run_qkv({"train", "copy", "book.txt", "--out", directory / "none"}).err,
            "qkv train: DATA: expected TASK text, pictures or tokenizer beside it, got copy\n");
  EXPECT_THAT(directory.names(), IsEmpty());
  ASSERT_EQ(run_qkv(small_run(directory / "run", "1")).code, 0);
  EXPECT_THAT(run_qkv(small_run(directory / "run", "1")).err,
              HasSubstr("--out: expected a directory without a checkpoint, or --resume beside it, got \""));
  EXPECT_THAT(run_qkv({"train", "copy", "--out", directory / "run", "--resume"}).err,
              HasSubstr("TASK: expected previous, which "));
}

}  // namespace
}  // namespace qkv::train_test
