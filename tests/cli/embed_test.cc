// qkv embed and qkv fill.
#include <gmock/gmock.h>

#include <filesystem>
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
            "qkv embed: --file: " + file + ", line 2: expected a value, got \"\"\n");
}

TEST(EmbedCommand, WritesAsManyDigitsAsAFloatHas) {
  const std::string out = run_qkv({"embed", "english", "the dog sleeps"}).out;
  const std::string first = out.substr(out.find('[') + 1, out.find(',', out.find('[')) - out.find('[') - 1);
  EXPECT_LE(first.size(), std::string("-0.123456789").size()) << first;
  EXPECT_EQ(Json::parse(out)["vector"].size(), 64U);
}

// A small BERT of six words as sentence-transformers saves one.
class SentenceTransformer {
 public:
  explicit SentenceTransformer(const std::string& pooling = R"({"pooling_mode": "mean"})") {
    std::filesystem::create_directory(path("1_Pooling"));
    write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
    write("1_Pooling/config.json", pooling);
    write("config.json", R"({"model_type": "bert", "vocab_size": 6, "hidden_size": 4, "intermediate_size": 6,
      "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 8})");
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n");
    tests::put_random_weights(path(""));
  }

  void write(const std::string& name, const std::string& text) const { write_file(path(name), text); }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] Outcome embed(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"embed", path("")};
    all.insert(all.end(), words.begin(), words.end());
    return run_qkv(all);
  }
  [[nodiscard]] Json vector(const std::vector<std::string>& words) const {
    const Outcome outcome = embed(words);
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out)["vector"];
  }

 private:
  tests::TemporaryDirectory directory_;
};

TEST(EmbedCommand, LeavesOutWhatItsFolderDoesNotReadAndSaysSo) {
  const SentenceTransformer model;
  model.write("sentence_bert_config.json", R"({"max_seq_length": 4})");
  const Outcome outcome = model.embed({"the cat the cat the cat"});
  EXPECT_EQ(outcome.err,
            "qkv embed: careful: the text is longer than its max_seq_length of 4 tokens: the rest is left out\n");
  EXPECT_EQ(Json::parse(outcome.out)["vector"], model.vector({"the cat"}));
  model.write("tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_THAT(model.embed({"the cat the cat the cat"}).err, HasSubstr("4 tokens: the beginning is left out\n"));
}

TEST(EmbedCommand, PutsThePromptOfItsFolderBeforeATextUnlessTold) {
  const SentenceTransformer model;
  const Json plain = model.vector({"the cat"});
  const Json prompted = model.vector({"cat the cat"});
  ASSERT_NE(plain, prompted);
  model.write("config_sentence_transformers.json",
              R"({"prompts": {"query": "cat ", "passage": "the "}, "default_prompt_name": "query"})");
  const Outcome by_default = model.embed({"the cat"});
  EXPECT_EQ(Json::parse(by_default.out)["vector"], prompted);
  EXPECT_EQ(Json::parse(by_default.out)["prompt"], "cat ");
  EXPECT_EQ(by_default.err,
            "qkv embed: careful: the model's default prompt \"cat \" stands before each text; an empty prompt leaves "
            "it out\n");
  EXPECT_EQ(model.vector({"the cat", "--prompt-name", "query"}), prompted);
  EXPECT_EQ(model.vector({"the cat", "--prompt", ""}), plain);
  EXPECT_EQ(model.vector({"cat", "--prompt-name", "passage"}), plain);
  EXPECT_EQ(model.vector({"the cat", "--prompt-name", "document"}), plain);
  const Outcome outcome = model.embed({"the cat", "--prompt-name", "title"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "qkv embed: --prompt-name: expected one of document, passage, query, got \"title\"\n");
  EXPECT_EQ(model.embed({"the cat", "--prompt-name", "query", "--prompt", "a"}).code, 2);
}

TEST(EmbedCommand, TakesSeveralPoolingsEndToEnd) {
  const SentenceTransformer model(R"({"pooling_mode": ["cls", "weightedmean"]})");
  const Json both = model.vector({"the cat"});
  ASSERT_EQ(both.size(), 8U);
  EXPECT_EQ(model.vector({"the cat", "--pooling", "first,weightedmean"}), both);
  EXPECT_EQ(model.vector({"the cat", "--pooling", "cls"}), Json(std::vector<double>(both.begin(), both.begin() + 4)));
  EXPECT_THAT(model.embed({"the cat", "--pooling", "median"}).err,
              testing::StartsWith("qkv embed: --pooling: expected one of mean, first (cls), last (lasttoken), max, "));
}

TEST(EmbedCommand, SaysWhatItLeavesOutOfItsFiles) {
  const SentenceTransformer model(R"({"pooling_mode": "cls", "colour": "red"})");
  EXPECT_EQ(model.embed({"the cat"}).err, "qkv embed: careful: " + model.path("1_Pooling/config.json") +
                                              ": colour is not known to qkv: it is left out\n");
  model.write("config_sentence_transformers.json",
              R"({"prompts": {"q": "cat "}, "default_prompt_name": "q", "similarity_fn_name": "dot"})");
  const std::string err = run_qkv({"change", model.path(""), "the cat", "--remove", "0.0"}).err;
  EXPECT_THAT(err, HasSubstr("careful: the model's default prompt \"cat \" is not put before the text"));
  EXPECT_THAT(err, HasSubstr("careful: the model's vectors are compared by dot (similarity_fn_name)"));
}

TEST(EmbedCommand, NamesTheLineOfATextThatItCannotCut) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory / "texts.txt";
  write_file(file, std::string("the cat sees the dog\nthe wombat\n"));
  EXPECT_THAT(run_qkv({"embed", "english", "--file", file}).err,
              testing::StartsWith("qkv embed: --file: " + file + ", line 2: expected a piece of the vocabulary"));
}

TEST(EmbedCommand, NamesWhatHasNoMeaning) {
  EXPECT_EQ(run_qkv({"embed", "sort", "abc"}).err,
            "qkv embed: MODEL: expected an encoder, a decoder or two towers, got one of kind encoder-decoder\n");
  EXPECT_EQ(run_qkv({"embed", "english", "the cat", "--out", "x.txt"}).err,
            "qkv embed: --out: expected a name like FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, got \"x.txt\"\n");
  EXPECT_EQ(run_qkv({"embed", "english"}).err, "qkv embed: TEXT, --line, --file: expected one of them, got none\n");
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
