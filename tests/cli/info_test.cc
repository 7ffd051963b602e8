// qkv info FILE.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "files/gguf_bytes.h"
#include "files/temporary_directory.h"
#include "model/llama_in_blocks.h"
#include "qkv/files.h"
#include "qkv/safetensors.h"

namespace qkv::info_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::Outcome;
using tests::run_qkv;
using tests::TemporaryDirectory;

std::string gguf() {
  tests::GgufBytes file;
  file.text("general.architecture", "llama").u32("llama.block_count", 2);
  file.texts("tokenizer.ggml.tokens", {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  file.tensor({"blk.0.up.weight", 8, {32, 2}, std::string(68, '\0')});
  file.tensor({"blk.1.up.weight", 8, {32, 2}, std::string(68, '\0')});
  file.tensor({"norm.weight", 0, {32}, std::string(128, '\0')});
  return file.text_of();
}

TEST(InfoOfAFile, ShowsWhatIsInAGguf) {
  const TemporaryDirectory folder;
  const std::string path = folder / "m.gguf";
  write_file(path, gguf());
  const Outcome outcome = run_qkv({"info", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("GGUF, version 3"), HasSubstr("3 tensors of 160 numbers"),
            HasSubstr("qkv opens no model of it: "), Not(HasSubstr("qkv generate")),
            HasSubstr("general.architecture   \"llama\""), HasSubstr("a list of string with 10: [\"a\",\"b\""),
            HasSubstr("blk.#.up.weight  Q8_0     [2, 32]   136 bytes, 2 of them"), Not(HasSubstr("blk.1.up.weight"))));
  EXPECT_THAT(run_qkv({"info", path, "--tensors"}).out, HasSubstr("blk.1.up.weight  Q8_0     [2, 32]    68 bytes\n"));
  const auto json = nlohmann::json::parse(run_qkv({"info", path, "--json"}).out);
  EXPECT_EQ(json.at("numbers"), 160);
  EXPECT_EQ(json.at("memory"), 512);
  EXPECT_THAT(json.at("refusal").get<std::string>(), testing::StartsWith("llama.attention.head_count: expected"));
  EXPECT_EQ(json.at("types").at(0),
            nlohmann::json::parse(R"({"type": "Q8_0", "tensors": 2, "numbers": 128, "bytes": 136})"));
  EXPECT_EQ(json.at("tensors").size(), 3U);
  EXPECT_EQ(json.at("words").size(), 3U);
}

TEST(InfoOfAFile, SaysWhatAGgufBecomes) {
  const TemporaryDirectory folder;
  const std::string path = folder / "m.gguf";
  const auto out_of = [&](const tests::GgufBytes& file) {
    write_file(path, file.text_of());
    return run_qkv({"info", path}).out;
  };
  EXPECT_THAT(out_of(tests::llama_in_blocks(core::BlockType::q8_0)),
              AllOf(HasSubstr("its quantised tensors take"), HasSubstr("qkv generate reads them"),
                    Not(HasSubstr("opens no model"))));
  tests::GgufBytes other;
  other.text("general.architecture", "mamba").tensor({"w", 8, {32, 2}, std::string(68, '\0')});
  EXPECT_THAT(out_of(other), AllOf(HasSubstr("qkv opens no model of it: general.architecture: expected one of"),
                                   Not(HasSubstr("qkv generate"))));
  tests::GgufBytes unread = tests::llama_in_blocks(core::BlockType::q8_0);
  unread.tensor({"w", 16, {256}, std::string(66, '\0')});
  EXPECT_THAT(out_of(unread), HasSubstr("qkv opens no model of it: \"w\": expected F32, F16,"));
}

TEST(InfoOfAFile, ShowsWhatIsInSafetensorsAndAFolder) {
  const TemporaryDirectory folder;
  const Tensor weights(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  write_file(folder / "model.safetensors",
             encode_safetensors(std::vector<NamedView>{{"w", weights}}, {{"format", "pt"}}));
  const std::string file = run_qkv({"info", folder / "model.safetensors"}).out;
  EXPECT_THAT(file, AllOf(HasSubstr("safetensors"), HasSubstr("1 tensor of 6 numbers"), HasSubstr("format  \"pt\""),
                          HasSubstr("w  F32      [2, 3]"), Not(HasSubstr("quantised"))));
  write_file(folder / "config.json", R"({"model_type": "llama", "hidden_size": 3})");
  const std::string all = run_qkv({"info", folder / ""}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("a folder"), HasSubstr("model_type   \"llama\""), HasSubstr("hidden_size  3"),
                         HasSubstr("  config.json\n"), HasSubstr("w  F32      [2, 3]")));
}

TEST(InfoOfAFile, NamesWhatIsNoFileOfWeights) {
  const TemporaryDirectory folder;
  write_file(folder / "m.gguf", gguf().substr(0, 100));
  const Outcome cut = run_qkv({"info", folder / "m.gguf"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("m.gguf: "));
  EXPECT_EQ(run_qkv({"info", folder / "none.gguf"}).code, 1);
  EXPECT_THAT(run_qkv({"info", folder / ""}).err, HasSubstr("expected a folder with config.json, got one without"));
  write_file(folder / "none", "");
  write_file(folder / "picture.png", "\x89PNG\r\n\x1A\n and more of it");
  for (const auto& [name, got] : {std::pair("none", "an empty file"), {"picture.png", "a PNG picture"}}) {
    const Outcome other = run_qkv({"info", folder / name});
    EXPECT_EQ(other.code, 1);
    EXPECT_EQ(other.err, "qkv info: FILE: " + folder / name +
                             ": expected a file of safetensors or GGUF, or a folder with config.json, got " + got +
                             "\n");
  }
  const Outcome alone = run_qkv({"info", "--tensors"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--tensors"));
}

}  // namespace
}  // namespace qkv::info_test
