#include "text/gguf_tokenizer.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/gguf_bytes.h"
#include "files/later_tensor.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/text/read_tokenizer.h"
#include "text/gguf_tokenizer_words.h"

namespace qkv::gguf_tokenizer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::GgufBytes;

struct Read {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::int64_t> ends;
  std::vector<std::string> cautions;
};

Read read(const GgufBytes& bytes) {
  const Gguf file(bytes.bytes(), "m.gguf");
  const files::GgufKeys keys(file);
  Read all;
  all.tokenizer = text::gguf_tokenizer(keys, all.cautions);
  all.ends = text::gguf_ends(keys);
  return all;
}

std::string fault_of(const GgufBytes& bytes) {
  return error_message<Error>([&] { static_cast<void>(read(bytes)); });
}

GgufBytes byte_level(const std::string& pre, const std::vector<std::string>& merges = {"a b", "1 2"}) {
  GgufBytes file;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", pre);
  file.texts("tokenizer.ggml.tokens", {"<|end|>", "a", "b", "ab", "1", "2", "12", "Ġ", "<tool>"});
  file.numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {3, 1, 1, 1, 1, 1, 1, 1, 4});
  file.texts("tokenizer.ggml.merges", merges);
  file.u32("tokenizer.ggml.bos_token_id", 0)
      .u32("tokenizer.ggml.eos_token_id", 0)
      .u32("tokenizer.ggml.eot_token_id", 3);
  return file;
}

TEST(GgufTokenizer, CutsAsThePreTokeniserThatIsNamed) {
  const Read gpt2 = read(byte_level("gpt-2"));
  EXPECT_THAT(gpt2.tokenizer->encode("ab 12<|end|><tool>").ids, ElementsAre(3, 7, 6, 0, 8));
  EXPECT_THAT(gpt2.cautions, IsEmpty());
  EXPECT_THAT(gpt2.ends, ElementsAre(0, 3));
  EXPECT_EQ(gpt2.tokenizer->decode(std::vector<std::int32_t>{3, 7, 6, 0, 8}), "ab 12<tool>");
  for (const char* pre : {"smollm", "qwen2"}) {
    EXPECT_THAT(read(byte_level(pre)).tokenizer->encode("ab 12").ids, ElementsAre(3, 7, 4, 5)) << pre;
  }
  EXPECT_THAT(read(byte_level("llama-bpe")).tokenizer->encode("12").ids, ElementsAre(0, 6));
  EXPECT_THAT(fault_of(byte_level("of-nobody")),
              HasSubstr("m.gguf: tokenizer.ggml.pre: expected one of the pre-tokenisers gpt-2, "));
}

TEST(GgufTokenizer, PutsTheTokensAroundATextThatAreAskedFor) {
  GgufBytes file = byte_level("smollm");
  file.boolean("tokenizer.ggml.add_bos_token", true).boolean("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = read(file).tokenizer;
  EXPECT_THAT(tokenizer->encode("a").ids, ElementsAre(0, 1, 0));
  EXPECT_THAT(tokenizer->encode("a", {.special = SpecialTokens::without}).ids, ElementsAre(1));
}

TEST(GgufTokenizer, TellsThatAnOldFileNamesNoPreTokeniser) {
  GgufBytes file;
  file.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a"}).texts("tokenizer.ggml.merges", {});
  const Read old = read(file);
  EXPECT_THAT(old.cautions, ElementsAre(HasSubstr("tokenizer.ggml.pre: not there")));
  EXPECT_THAT(old.ends, IsEmpty());
}

GgufBytes sentence_piece() {
  GgufBytes file;
  file.text("tokenizer.ggml.model", "llama");
  file.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab", "<d>"});
  file.numbers<float>("tokenizer.ggml.scores", 6, {0, 0, 0, -4, -5, -6, -1, -2, 0});
  file.numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 1, 1, 1, 1, 1, 4});
  file.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  return file;
}

TEST(GgufTokenizer, ReadsThePiecesOfSentencePiece) {
  const Read read_first = read(sentence_piece());
  EXPECT_THAT(read_first.tokenizer->encode("ab</s>c").ids, ElementsAre(1, 7, 2, 3, 0));
  EXPECT_THAT(read_first.ends, ElementsAre(2));
  GgufBytes bare = sentence_piece();
  bare.boolean("tokenizer.ggml.add_space_prefix", false).boolean("tokenizer.ggml.add_bos_token", false);
  EXPECT_THAT(read(bare).tokenizer->encode("ab b").ids, ElementsAre(6, 3, 5));
}

GgufBytes word_piece() {
  GgufBytes file;
  file.text("tokenizer.ggml.model", "bert");
  file.texts("tokenizer.ggml.tokens", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁un", "able", "▁."});
  return file;
}

TEST(GgufTokenizer, TurnsTheMarksOfWordPiecesAround) {
  const auto tokenizer = read(word_piece()).tokenizer;
  EXPECT_THAT(tokenizer->encode("Unable . x").ids, ElementsAre(2, 4, 5, 6, 1, 3));
  EXPECT_EQ(tokenizer->piece(5), "##able");
}

std::shared_ptr<const Tokenizer> written_and_read(const Tokenizer& tokenizer, std::int64_t rows) {
  const tests::TemporaryDirectory directory;
  std::vector<std::string> cautions;
  files::StagedFile file(directory / "m.gguf");
  files::write_gguf(file, text::gguf_tokenizer_words(tokenizer, rows, "folder", cautions), {}, nullptr);
  file.finish();
  EXPECT_THAT(cautions, IsEmpty());
  const Gguf gguf = Gguf::read(file.temporary());
  return text::gguf_tokenizer(files::GgufKeys(gguf), cautions);
}

TEST(GgufTokenizerWords, AreReadAsTheTokenizerThatTheyWereMadeOf) {
  GgufBytes with_ends = byte_level("smollm");
  with_ends.boolean("tokenizer.ggml.add_bos_token", true).boolean("tokenizer.ggml.add_eos_token", true);
  for (const GgufBytes& bytes :
       {byte_level("gpt-2"), byte_level("smollm"), byte_level("qwen2"), byte_level("tekken"), byte_level("llama-bpe"),
        byte_level("dbrx"), byte_level("gpt-4o"), byte_level("falcon"), byte_level("bloom"), byte_level("default"),
        with_ends, sentence_piece(), word_piece()}) {
    const auto before = read(bytes).tokenizer;
    const auto after = written_and_read(*before, before->size());
    EXPECT_TRUE(have_same_pieces(*before, *after));
    std::vector<std::string> cautions;
    text::require_same_cuts(*before, *after, "folder", cautions);
    EXPECT_THAT(cautions, IsEmpty());
    for (const char* text : {"ab 12<|end|><tool>", "ab</s>c<d>", "Unable . x", "a  ab\n12"}) {
      EXPECT_EQ(before->encode(text).ids, after->encode(text).ids) << text;
    }
  }
}

// As transformers saves Llama's, without its tokenizer.model: ids are bytes, then characters, then what merges make.
std::string pipeline_of(const std::vector<std::string>& pieces, const std::vector<std::string>& merges,
                        const std::string& cut = "null",
                        const std::string& blanks = R"({"type": "Prepend", "prepend": "▁"},)") {
  std::string vocab = R"("<unk>": 0, "<s>": 1)";
  int id = 2;
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    vocab += std::string(", \"<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">\": " + std::to_string(id++);
  }
  for (const std::string& piece : pieces) vocab += ", \"" + piece + "\": " + std::to_string(id++);
  std::string joined;
  for (const std::string& merge : merges) joined += (joined.empty() ? "\"" : ", \"") + merge + "\"";
  return R"({"added_tokens": [{"id": 1, "content": "<s>", "special": true, "normalized": false,
    "single_word": false, "lstrip": false, "rstrip": false}], "normalizer":
    {"type": "Sequence", "normalizers": [)" +
         blanks + R"({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "pre_tokenizer": )" +
         cut + R"(, "decoder": null, "post_processor": null, "model": {"type": "BPE", "unk_token": "<unk>",
    "fuse_unk": true, "byte_fallback": true, "vocab": {)" +
         vocab + R"(}, "merges": [)" + joined + "]}}";
}

std::shared_ptr<const Tokenizer> pipeline(const std::string& json) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "tokenizer.json", json);
  return read_tokenizer(directory / "tokenizer.json");
}

const std::vector<std::string> kPieces = {"▁", "a", "b", "c", "ab", "▁a", "▁ab"};
const std::vector<std::string> kAllMerges = {"a b", "▁ a", "▁ ab", "▁a b"};

TEST(GgufTokenizerWords, HoldMergesThatAreSentencePieces) {
  const std::string metaspace =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";
  const std::string split =
      R"({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": false})";
  for (const std::string& json : {pipeline_of(kPieces, kAllMerges), pipeline_of(kPieces, kAllMerges, metaspace, ""),
                                  pipeline_of(kPieces, kAllMerges, split, "")}) {
    const auto before = pipeline(json);
    const auto after = written_and_read(*before, before->size());
    EXPECT_TRUE(have_same_pieces(*before, *after));
    for (const char* text : {"ab", "cab abc", "a  b é日", "aab<s>cab", "caab aabab"}) {
      EXPECT_EQ(before->encode(text).ids, after->encode(text).ids) << text;
    }
  }
}

TEST(GgufTokenizerWords, RefuseMergesThatAreNone) {
  const auto fault = [](const std::string& json) {
    return error_message<Error>([&] {
      const auto before = pipeline(json);
      static_cast<void>(written_and_read(*before, before->size()));
    });
  };
  EXPECT_THAT(fault(pipeline_of(kPieces, {"a b", "▁ a", "▁ ab"})),
              HasSubstr("model BPE: \"▁ab\", which 1 merges make: expected 2, all pairs of pieces"));
  EXPECT_THAT(fault(pipeline_of(kPieces, {"a b", "▁ ab", "▁ a", "▁a b"})), HasSubstr("merges of \"▁ab\""));
  EXPECT_THAT(fault(pipeline_of(kPieces, kAllMerges, R"({"type": "Whitespace"})")),
              HasSubstr("pre_tokenizer Whitespace"));
  EXPECT_THAT(fault(pipeline_of(kPieces, kAllMerges, "null", R"({"type": "Lowercase"},)")),
              HasSubstr("normalizer Lowercase"));
  const std::string metaspace =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";
  EXPECT_THAT(fault(pipeline_of({"▁", "a", "a▁"}, {"a ▁"}, metaspace, "")), HasSubstr("no blank within a piece"));
}

TEST(GgufTokenizerWords, NameRowsWithoutAPiece) {
  const auto before = read(byte_level("gpt-2")).tokenizer;
  const auto after = written_and_read(*before, 12);
  EXPECT_EQ(after->size(), 12);
  EXPECT_EQ(after->piece(11), "[PAD11]");
  const std::string fault = error_message<Error>([&] { static_cast<void>(written_and_read(*before, 3)); });
  EXPECT_THAT(fault, HasSubstr("expected a token below 3, the rows of the model's table"));
}

TEST(GgufTokenizerWords, TellsOfCutsThatDiffer) {
  const auto digits = read(byte_level("smollm")).tokenizer;
  const auto numbers = read(byte_level("gpt-2")).tokenizer;
  std::vector<std::string> cautions;
  EXPECT_THAT(error_message<Error>([&] { text::require_same_cuts(*digits, *numbers, "folder", cautions); }),
              HasSubstr("folder: its tokenizer cuts \"The quick"));
}

// What llama.cpp opens: types of no meaning, tokens without a text; and two tokens of one text.
TEST(GgufTokenizer, TakesTokensWhoseMeaningIsUnclear) {
  GgufBytes file;
  file.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2");
  file.texts("tokenizer.ggml.tokens", {"a", "", "b", "", "a", "c"}).texts("tokenizer.ggml.merges", {});
  file.numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {1, 1, 0, 5, 1, 7});
  const Read all = read(file);
  EXPECT_THAT(all.tokenizer->encode("abc").ids, ElementsAre(4, 2, 5));
  EXPECT_EQ(all.tokenizer->decode(std::vector<std::int32_t>{0, 2, 4}), "aba");
  EXPECT_EQ(all.tokenizer->piece(3), "[EMPTY_3]");
  EXPECT_THAT(
      all.cautions,
      ElementsAre("tokenizer.ggml.token_type: 0 of token 2 is no type: it and others like it are taken as pieces "
                  "of texts",
                  "tokenizer.ggml.tokens: \"a\": there twice; a text is cut into the later of two tokens"));
  EXPECT_THAT(make_tokenizer(all.tokenizer->config())->encode("abc").ids, ElementsAre(4, 2, 5));
  GgufBytes pieces;
  pieces.text("tokenizer.ggml.model", "llama").texts("tokenizer.ggml.tokens", {"<unk>", "a", "", ""});
  pieces.numbers<float>("tokenizer.ggml.scores", 6, {0, -1, 0, 0});
  pieces.numbers<std::int32_t>("tokenizer.ggml.token_type", 5, {2, 0, 1, 5});
  pieces.boolean("tokenizer.ggml.add_bos_token", false).boolean("tokenizer.ggml.add_space_prefix", false);
  EXPECT_THAT(read(pieces).tokenizer->encode("a").ids, ElementsAre(1));
  EXPECT_THAT(read(pieces).cautions, ElementsAre(HasSubstr("token_type: 0 of token 1 is no type")));
}

TEST(GgufTokenizer, HasNoneWhereTheFileHasNone) { EXPECT_EQ(read(GgufBytes()).tokenizer, nullptr); }

TEST(GgufTokenizer, NamesTheKeyThatIsWrong) {
  GgufBytes other;
  other.text("tokenizer.ggml.model", "rwkv");
  EXPECT_THAT(fault_of(other), HasSubstr("tokenizer.ggml.model: expected gpt2, llama, bert or t5, got \"rwkv\""));
  GgufBytes none;
  none.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.tokens", "a");
  EXPECT_THAT(fault_of(none), HasSubstr("tokenizer.ggml.tokens: expected a list of texts, got \"a\""));
  GgufBytes bytes;
  bytes.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a", "\xDE"});
  EXPECT_THAT(fault_of(bytes),
              HasSubstr("tokenizer.ggml.tokens: expected texts in UTF-8, got a list of string with 2"));
  GgufBytes few = byte_level("gpt-2");
  few.numbers<float>("tokenizer.ggml.scores", 6, {1, 2});
  EXPECT_THAT(fault_of(few),
              HasSubstr("tokenizer.ggml.scores: expected one for each of the 9 tokens, got a list of f32"));
  GgufBytes beyond;
  beyond.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2").texts("tokenizer.ggml.tokens", {"a"});
  beyond.texts("tokenizer.ggml.merges", {}).u32("tokenizer.ggml.eos_token_id", 1);
  EXPECT_THAT(fault_of(beyond), HasSubstr("tokenizer.ggml.eos_token_id: expected a token from 0 to 0, got 1"));
  EXPECT_THAT(fault_of(byte_level("gpt-2", {"a b", "a <tool>"})),
              HasSubstr("m.gguf: tokenizer.ggml.merges[1]: expected pieces of tokenizer.ggml.tokens, got \"a<tool>\""));
  EXPECT_THAT(fault_of(byte_level("gpt-2", {"a b 1"})),
              HasSubstr("tokenizer.ggml.merges[0]: expected two pieces, got \"a b 1\""));
}

// Of a file whose weights nobody has to read.
TEST(GgufTokenizer, IsReadFromAFileAlone) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "m.gguf";
  write_file(path, byte_level("gpt-2").bytes());
  std::vector<std::string> cautions;
  write_file(directory / "tokenizer_config.json", "{broken");  // which says nothing of this file
  const auto tokenizer = read_tokenizer(path, &cautions);
  EXPECT_THAT(tokenizer->encode("ab 12<|end|><tool>").ids, ElementsAre(3, 7, 6, 0, 8));
  EXPECT_THAT(cautions, IsEmpty());
  // What is saved of it, and read again, cuts alike.
  const auto again = make_tokenizer(tokenizer->config());
  EXPECT_THAT(again->encode("ab 12<|end|><tool>").ids, ElementsAre(3, 7, 6, 0, 8));
  write_file(path, GgufBytes().bytes());
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(read_tokenizer(path)); }),
              HasSubstr("m.gguf: expected a tokenizer in its metadata, got none"));
}

}  // namespace
}  // namespace qkv::gguf_tokenizer_test
