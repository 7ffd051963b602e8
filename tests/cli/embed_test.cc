// qkv embed and qkv fill.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "files/temporary_directory.h"
#include "model/random_weights.h"
#include "qkv/files.h"

namespace qkv::embed_command_test {
namespace {

using testing::HasSubstr;
using tests::Outcome;
using tests::run_qkv;
using Json = nlohmann::json;

TEST(EmbedCommand, WritesAVectorForEachLine) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  const std::string out = directory / "vectors.npy";
  write_file(file, std::string("the cat sees the dog\nthe dog sleeps\n"));
  const Outcome outcome = run_qkv({"embed", "english", "--file", file, "--out", out, "--normalise"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Tensor vectors = read_tensor(out);
  EXPECT_EQ(vectors.shape(), (Shape{2, 64}));
  const Json one = Json::parse(run_qkv({"embed", "english", "the dog sleeps", "--normalise"}).out);
  EXPECT_EQ(one["text"], "the dog sleeps");
  for (std::int64_t d = 0; d < 64; ++d) {
    EXPECT_NEAR(one["vector"][static_cast<std::size_t>(d)].get<double>(), vectors.at({1, d}), 1e-6);
  }
}

TEST(EmbedCommand, SaysWhichLineItCannotRead) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  write_file(file, std::string("the cat\n\nthe dog sleeps\n"));
  EXPECT_EQ(run_qkv({"embed", "english", "--file", file}).err,
            "qkv embed: " + file + ", line 2: expected a token or more, got none\n");
}

TEST(EmbedCommand, WritesAsManyDigitsAsAFloatHas) {
  const std::string out = run_qkv({"embed", "english", "the dog sleeps"}).out;
  const std::string first = out.substr(out.find('[') + 1, out.find(',', out.find('[')) - out.find('[') - 1);
  EXPECT_LE(first.size(), std::string("-0.123456789").size()) << first;
  EXPECT_EQ(Json::parse(out)["vector"].size(), 64U);
}

TEST(EmbedCommand, LeavesOutWhatItsFolderDoesNotReadAndSaysSo) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "modules.json", std::string("[]"));
  write_file(directory / "sentence_bert_config.json", std::string(R"({"max_seq_length": 4})"));
  write_file(directory / "config.json", std::string(R"({"model_type": "bert", "vocab_size": 6, "hidden_size": 4,
    "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 8})"));
  write_file(directory / "vocab.txt", std::string("[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n"));
  tests::put_random_weights(directory / "");
  const Outcome outcome = run_qkv({"embed", directory / "", "the cat the cat the cat"});
  EXPECT_EQ(outcome.err,
            "qkv embed: careful: the text is longer than its max_seq_length of 4 tokens: the rest is left out\n");
  EXPECT_EQ(Json::parse(outcome.out)["vector"],
            Json::parse(run_qkv({"embed", directory / "", "the cat"}).out)["vector"]);
}

TEST(EmbedCommand, NamesWhatHasNoMeaning) {
  EXPECT_EQ(run_qkv({"embed", "sort", "abc"}).err,
            "qkv embed: MODEL: expected an encoder, a decoder or two towers, got one of kind encoder-decoder\n");
  EXPECT_EQ(run_qkv({"embed", "english", "the cat", "--out", "x.txt"}).err,
            "qkv embed: --out: expected a name like FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, got \"x.txt\"\n");
  EXPECT_EQ(run_qkv({"embed", "english"}).err, "qkv embed: TEXT: expected one of TEXT and --file, got none\n");
  EXPECT_THAT(run_qkv({"embed", "english", "the cat", "--out", "/nowhere/x.npy"}).err, HasSubstr("/nowhere"));
}

TEST(FillCommand, RefusesATextWithoutAMask) {
  const Outcome outcome = run_qkv({"fill", "english", "the cat"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("qkv fill: TEXT: expected a text with a gap, such as <"));
  EXPECT_THAT(run_qkv({"fill", "english", "the cats that the girl sees <be> small"}).out,
              testing::MatchesRegex("the mask at token 6\n  0[.][0-9]+  are\n(.|\n)*"));
  EXPECT_EQ(run_qkv({"fill", "sort", "abc"}).err,
            "qkv fill: MODEL: expected an encoder that says tokens, got one of kind encoder-decoder\n");
}

}  // namespace
}  // namespace qkv::embed_command_test
