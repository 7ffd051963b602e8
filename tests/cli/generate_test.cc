// qkv generate.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"

namespace qkv::generate_command_test {
namespace {

using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(GenerateCommand, AnswersOneText) {
  const Outcome outcome = run_qkv({"generate", "reverse", "abxkcdef"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "fedckxba\n");
  // An addition goes on with its text, and the task says how far.
  EXPECT_EQ(run_qkv({"generate", "addition", "1234+1234="}).out.size(), std::string("1234+1234=12345\n").size());
  EXPECT_THAT(run_qkv({"generate", "sort", "hello"}).err, HasSubstr("qkv generate: careful: "));
}

TEST(GenerateCommand, IsCarefulWithTheFirstOfSeveralTexts) {
  const std::string careful = "qkv generate: careful: ";
  EXPECT_EQ(
      run_qkv({"generate", "translation", "--line", "the cats are small", "--line", "the cat", "--line", "the dog"})
          .err,
      careful +
          "texts[1]: it learned from sentences such as \"some umbrellas are heavy\"; after \"cat\", it expects "
          "\"that\" or a preposition or a verb\n" +
          careful + "2 of 3 texts are such as it did not learn from\n");
  EXPECT_THAT(run_qkv({"generate", "copy", "--line", "abcdefghijklmnopqrs", "--line", "abc"}).err,
              HasSubstr("--line[0]: expected a text of at most 12 tokens"));
}

TEST(GenerateCommand, WritesAnObjectForEachLineOfAFile) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "prompts.txt";
  write_file(file, "abxkcdef\nqwertyui\r\n");
  const Outcome outcome = run_qkv({"generate", "reverse", "--file", file, "--json"});
  const std::size_t end = outcome.out.find('\n');
  EXPECT_EQ(Json::parse(outcome.out.substr(0, end))["text"], "fedckxba");
  const Json second = Json::parse(outcome.out.substr(end + 1));
  EXPECT_EQ(second["prompt"], "qwertyui");
  EXPECT_EQ(second["text"], "iuytrewq");
  EXPECT_EQ(second["end"], "token");
  EXPECT_EQ(second["tokens"].size(), 8U);
  write_file(file, "abxkcdef\n\nqwertyui\n");
  EXPECT_EQ(run_qkv({"generate", "reverse", "--file", file}).err,
            "qkv generate: --file: " + file + ", line 2: expected a value, got \"\"\n");
}

TEST(GenerateCommand, ReadsQuantisedWeightsAsTheyAreInTheirFile) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "m.gguf";
  write_file(path, tests::llama_with_letters(core::BlockType::q4_1));
  const std::string words = "weights of Q4_1 as in the file, activations in 8 bits";
  const auto generate = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"generate", path, "ABC", "--tokens", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return run_qkv(all);
  };
  const Outcome by_blocks = generate({"--json"});
  ASSERT_EQ(by_blocks.code, 0) << by_blocks.err;
  EXPECT_EQ(Json::parse(by_blocks.out)["weights"], words);
  EXPECT_EQ(Json::parse(by_blocks.out)["notes"], Json::array({words + "; `dtype` f32 computes with both as f32"}));
  EXPECT_THAT(generate({}).err, HasSubstr("qkv generate: " + words + "; --dtype f32 computes with both as f32"));
  const Outcome by_numbers = generate({"--json", "--dtype", "f32"});
  EXPECT_FALSE(Json::parse(by_numbers.out).contains("weights"));
  EXPECT_THAT(by_numbers.err, testing::Not(HasSubstr("as in the file")));
  EXPECT_EQ(generate({"--dtype", "q4"}).err, "qkv generate: --dtype: expected file, f32 or bf16, got \"q4\"\n");
}

TEST(GenerateCommand, TakesOneWordForEachStop) {
  EXPECT_EQ(run_qkv({"generate", "reverse", "--stop", "x", "abxkcdef"}).out, "fedck\n");
  EXPECT_EQ(run_qkv({"generate", "reverse", "--stop", "b", "--stop", "x", "abxkcdef"}).out, "fedck\n");
  const Outcome empty = run_qkv({"generate", "reverse", "abxkcdef", "--stop=", "--tokens", "2"});
  EXPECT_EQ(empty.code, 2);
  EXPECT_EQ(empty.err, "qkv generate: --stop: expected a value, got \"\"\n");
}

TEST(GenerateCommand, TakesFiniteNumbersAlone) {
  const auto refusal = [](const char* option, const char* value) {
    const Outcome outcome = run_qkv({"generate", "reverse", "abc", option, value});
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(refusal("--temperature", "inf"), "qkv generate: --temperature: expected a finite number, got inf\n");
  EXPECT_EQ(refusal("--repetition-penalty", "inf"),
            "qkv generate: --repetition-penalty: expected a finite number, got inf\n");
  EXPECT_EQ(refusal("--repetition-penalty", "0"),
            "qkv generate: --repetition-penalty: expected a number above 0, up to 1e38, got 0\n");
  EXPECT_THAT(refusal("--temperature", "1e400"),
              HasSubstr("--temperature: expected a number in the range of f64, up to 1.8e308"));
}

TEST(GenerateCommand, ReadsStandardInput) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "text", "abxkcdef\n");
  EXPECT_EQ(tests::run_qkv_from(directory / "text", {"generate", "reverse", "-"}).out, "fedckxba\n");
  EXPECT_EQ(tests::run_qkv_from(directory / "text", {"generate", "reverse", "--file", "-"}).out, "fedckxba\n");
}

// 256 tokens are what its examples had.
TEST(GenerateCommand, SaysWhatItDidNotRead) {
  std::string text = "the";
  for (int n = 1; n < 270; ++n) text += " the";
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"generate", "gpt", text, "--tokens", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 0);
    return outcome.err;
  };
  const std::string kSaid =
      "qkv generate: careful: it learned from texts of at most 256 tokens; this one has 270\n"
      "qkv generate: careful: it reads at most 256 tokens at once: the end was written without the first 15\n";
  EXPECT_EQ(said({}), kSaid);
  EXPECT_EQ(said({"--temperature", "1", "--seed", "3"}), kSaid);
  EXPECT_EQ(said({"--beams", "2"}), kSaid);
  EXPECT_EQ(Json::parse(run_qkv({"generate", "gpt", text, "--tokens", "2", "--json"}).out)["cautions"],
            Json::parse(R"(["it learned from texts of at most 256 tokens; this one has 270",
                            "it reads at most 256 tokens at once: the end was written without the first 15"])"));
}

TEST(GenerateCommand, PrintsNothingBeforeItIsCertain) {
  const Outcome outcome = run_qkv({"generate", "gpt", "The cat", "--temperature", "1", "--top-p", "2"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "qkv generate: --top-p: expected a number above 0, up to 1, got 2\n");
}

TEST(GenerateCommand, GivesTheSameTextsForASeed) {
  const std::vector<std::string> asked = {
      "generate", "translation", "the dog sleeps", "--temperature", "3", "--top-k", "20", "--samples", "4", "--seed"};
  const auto with_seed = [&](const char* seed) {
    std::vector<std::string> words = asked;
    words.emplace_back(seed);
    return run_qkv(words).out;
  };
  EXPECT_EQ(with_seed("7"), with_seed("7"));
  EXPECT_NE(with_seed("7"), with_seed("8"));
}

TEST(GenerateCommand, NamesTheOptionThatHasNoMeaning) {
  const auto message = [](std::vector<std::string> words) {
    words.insert(words.begin(), "generate");
    const Outcome outcome = run_qkv(words);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_EQ(message({"sort"}), "qkv generate: TEXT, --line, --chat, --file, --sound: expected one of them, got none\n");
  EXPECT_EQ(message({"english", "the cat"}),
            "qkv generate: MODEL: expected one that writes, got one of kind encoder\n");
  EXPECT_EQ(message({"sort", "abc", "--top-k", "3"}),
            "qkv generate: --top-k: expected --temperature or --chat beside it, got none of them\n");
  EXPECT_EQ(message({"sort", "abc", "--temperature", "1", "--beams", "2"}),
            "qkv generate: --temperature: expected 0 beside several beams, got 1\n");
  EXPECT_EQ(message({"addition", "12345678+12345678="}),
            "qkv generate: TEXT: expected a text of at most 14 tokens, for which there are learned positions, got 18 "
            "tokens\n");
  EXPECT_EQ(message({"sort", "abc", "--seed", "3"}),
            "qkv generate: --seed: expected --temperature or --chat beside it, got none of them\n");
  EXPECT_EQ(message({"sort", "abc", "--samples", "3"}),
            "qkv generate: --samples: expected --temperature beside it, got none\n");
  EXPECT_EQ(message({"sort", "abc", "--samples", "3", "--temperature", "0"}),
            "qkv generate: --samples: expected a --temperature above 0 beside it, got none\n");
  EXPECT_EQ(message({"sort", "abc", "--samples", "3", "--beams", "2"}),
            "qkv generate: --samples: expected it without --beams (beams draw nothing), got both\n");
  EXPECT_EQ(message({"sort", "abc", "--length-penalty", "2"}),
            "qkv generate: --length-penalty: expected --beams beside it, got none\n");
  EXPECT_EQ(message({"sort", "ab9"}), "qkv generate: TEXT: expected a piece of the vocabulary, got \"9\"\n");
}

}  // namespace
}  // namespace qkv::generate_command_test
