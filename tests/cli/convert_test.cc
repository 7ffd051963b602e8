// qkv convert, and qkv check of two models.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"

namespace qkv::convert_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;
using Json = nlohmann::json;

TEST(ConvertCommand, WritesAModelInAnotherType) {
  const TemporaryDirectory out;
  const Outcome outcome = run_qkv({"convert", "induction", out / "half.safetensors", "--type", "f16"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("safetensors"), HasSubstr("36 tensors"), HasSubstr("largest relative error"),
                                 HasSubstr("F16")));
  const Outcome again =
      run_qkv({"convert", "induction", out / "half.safetensors", "--type", "f16", "--overwrite", "--json"});
  const Json json = Json::parse(again.out);
  EXPECT_EQ(json.at("form"), "safetensors");
  EXPECT_GT(json.at("worst_error"), 0);
  EXPECT_LT(json.at("worst_error"), 1e-3);
  EXPECT_EQ(json.at("tensors").at(0).at("type"), "F16");
  EXPECT_THAT(run_qkv({"generate", out / "half.safetensors", "abcxyzab"}).out, HasSubstr("abcxyzab"));
}

TEST(ConvertCommand, TakesATypeAsGgufWritesIt) {
  const TemporaryDirectory out;
  write_file(out / "m.gguf", tests::llama_with_letters(core::BlockType::q4_1));
  const Outcome outcome = run_qkv({"convert", out / "m.gguf", out / "q8.gguf", "--type", "Q8_0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json small =
      Json::parse(run_qkv({"convert", out / "m.gguf", out / "q8.gguf", "--type", "q8_0", "--overwrite", "--json"}).out);
  EXPECT_EQ(Json::parse(outcome.out).at("tensors"), small.at("tensors"));
}

TEST(ConvertCommand, RefusesWhatHasNoMeaning) {
  const TemporaryDirectory out;
  const auto refusal = [](const std::vector<std::string>& arguments, int code) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refusal({"convert", "induction"}, 2), HasSubstr("OUT"));
  EXPECT_THAT(refusal({"convert", "induction", out / "m.gguf"}, 2), HasSubstr("MODEL: expected a folder with config"));
  EXPECT_THAT(refusal({"convert", "induction", out / "m.safetensors"}, 2), HasSubstr("--type: expected a type"));
  EXPECT_THAT(refusal({"convert", "induction", out / "m.safetensors", "--type", "q8_0"}, 2),
              HasSubstr("--type: expected f32, f16, bf16, which safetensors hold, got q8_0"));
  EXPECT_THAT(refusal({"convert", out / "none", out / "m.gguf"}, 1), HasSubstr(out / "none"));
  EXPECT_TRUE(out.names().empty());
}

TEST(CheckCommand, ComparesTwoModelsOnAText) {
  const TemporaryDirectory out;
  write_file(out / "text.txt", "abcxyzabcxyz\n");
  ASSERT_EQ(run_qkv({"convert", "induction", out / "half.safetensors", "--type", "bf16", "--quiet"}).code, 0);
  const std::vector<std::string> words = {"check", "induction", out / "half.safetensors", "--file", out / "text.txt"};
  const Outcome outcome = run_qkv(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("12 tokens, 11 of them predicted"), HasSubstr("KL(A || B)"),
                                 HasSubstr("top-1"), HasSubstr("perplexity"), HasSubstr("worst layer: ")));
  std::vector<std::string> with_json = words;
  with_json.emplace_back("--json");
  const Json json = Json::parse(run_qkv(with_json).out);
  EXPECT_GT(json.at("divergence"), 0);
  EXPECT_EQ(json.at("layers").size(), 3U);
  EXPECT_EQ(json.at("predicted"), 11);
}

TEST(CheckCommand, ComputesWithQuantisedWeightsAsTheyLie) {
  const TemporaryDirectory out;
  write_file(out / "text.txt", "ABCDEFGHIJ");
  write_file(out / "m.gguf", tests::llama_with_letters(core::BlockType::q4_1));
  ASSERT_EQ(run_qkv({"convert", out / "m.gguf", out / "plain", "--type", "f32", "--quiet"}).code, 0);
  const auto found = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"check", out / "plain", out / "m.gguf", "--file", out / "text.txt", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(run_qkv(words).out);
  };
  const Json by_numbers = found({});
  EXPECT_EQ(by_numbers.at("divergence"), 0);
  EXPECT_FALSE(by_numbers.contains("weights_b"));
  const Json by_blocks = found({"--dtype", "file"});
  EXPECT_GT(by_blocks.at("divergence"), 0);
  EXPECT_FALSE(by_blocks.contains("weights_a"));
  EXPECT_EQ(by_blocks.at("weights_b"), "weights of Q4_1 as in the file, activations in 8 bits");
  EXPECT_THAT(run_qkv({"check", out / "plain", out / "m.gguf", "--file", out / "text.txt", "--dtype", "file"}).out,
              HasSubstr("m.gguf: weights of Q4_1 as in the file"));
}

TEST(CheckCommand, RefusesOptionsOfTheOtherForm) {
  const TemporaryDirectory out;
  write_file(out / "text.txt", "abcxyz");
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_qkv(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refusal({"check", "induction", "induction", "--file", out / "text.txt", "--rtol", "1"}),
              AllOf(HasSubstr("--rtol"), HasSubstr("--file")));
  EXPECT_THAT(refusal({"check", "a.npy", "b.npy", "--window", "4"}), AllOf(HasSubstr("--window"), HasSubstr("--file")));
  EXPECT_THAT(refusal({"check", "induction", "english", "--file", out / "text.txt"}), HasSubstr("B: expected a model"));
}

}  // namespace
}  // namespace qkv::convert_test
