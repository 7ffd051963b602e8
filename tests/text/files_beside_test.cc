// Folders of tokenizers: what the files beside the first one add. The numbers are those of transformers 5.23.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "qkv/text/read_tokenizer.h"
#include "text/model_proto.h"
#include "text/pipeline.h"
#include "text/tokenizer_folder.h"

namespace qkv::files_beside_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::ProtoPiece;
using Ids = std::vector<std::int32_t>;
using Folder = tests::TokenizerFolder;

json added(const std::string& content, bool special = true) {
  return {{"content", content},  {"lstrip", false},      {"rstrip", false},
          {"normalized", false}, {"single_word", false}, {"special", special}};
}

json numbered(int id, const std::string& content, bool special = true) {
  json token = added(content, special);
  token["id"] = id;
  return token;
}

constexpr const char* kBert = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncool\n##word\n[\n]\nnew\n";

TEST(AddedTokensBeside, VocabTxt) {
  const std::string text = "a [NEW] coolword a";
  Folder older;
  older.with("vocab.txt", std::string(kBert)).with("added_tokens.json", json{{"[NEW]", 11}, {"coolword", 12}});
  EXPECT_THAT(older.ids(text), ElementsAre(2, 5, 11, 12, 5, 3));
  EXPECT_EQ(older.read()->size(), 13);
  Folder newer;
  newer.with("vocab.txt", std::string(kBert))
      .with("tokenizer_config.json",
            json{{"added_tokens_decoder", {{"11", added("[NEW]")}, {"12", added("coolword", false)}}}});
  EXPECT_THAT(newer.ids(text), ElementsAre(2, 5, 11, 12, 5, 3));
  EXPECT_EQ(newer.read()->decode(newer.ids(text)), "a coolword a");
  const auto again = make_tokenizer(newer.read()->config());
  EXPECT_EQ(again->encode(text).ids, newer.ids(text));
}

TEST(AddedTokensBeside, VocabJsonAndMerges) {
  json vocab = json::object();
  for (int c = 33; c < 127; ++c) vocab[std::string(1, static_cast<char>(c))] = c - 33;
  vocab["Ġ"] = 94;
  vocab["<|endoftext|>"] = 95;
  Folder folder;
  folder.with("vocab.json", vocab).with("merges.txt", std::string("#version: 0.2\n"));
  folder.with("added_tokens.json", json{{"<|im_start|>", 96}, {"<|im_end|>", 97}});
  EXPECT_THAT(folder.ids("<|im_start|>a <|im_end|> b<|endoftext|>"), ElementsAre(96, 64, 94, 97, 94, 65, 95));
  // Special tokens that nothing numbers stand behind the pieces; a text gets what add_bos_token says.
  folder.with("added_tokens.json", json::object())
      .with("special_tokens_map.json", json{{"additional_special_tokens", {"<|im_start|>", "<|im_end|>"}}})
      .with("tokenizer_config.json", json{{"add_bos_token", true}, {"bos_token", "<s>"}});
  EXPECT_THAT(folder.ids("<|im_start|>a<|im_end|>"), ElementsAre(98, 96, 64, 97));
}

TEST(AddedTokensBeside, TokenizerJson) {
  Folder folder;
  const json model = {{"type", "WordLevel"}, {"vocab", {{"?", 0}, {"a", 1}, {"<pad>", 2}}}, {"unk_token", "?"}};
  folder.with(
      "tokenizer.json",
      json{{"added_tokens", {numbered(3, "<s>")}}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}, {"model", model}});
  folder.with(
      "tokenizer_config.json",
      json{{"pad_token", "<pad>"}, {"added_tokens_decoder", {{"3", added("<s>")}, {"4", added("<|im_start|>")}}}});
  EXPECT_THAT(folder.ids("<|im_start|>a<pad><s>"), ElementsAre(4, 1, 2, 3));
  EXPECT_THAT(folder.cautions(), IsEmpty());
  // The number of a piece counts, and a number that is another's is given up; both are said.
  folder.with("tokenizer_config.json", json{{"added_tokens_decoder", {{"1", added("<x>")}, {"7", added("a")}}}});
  EXPECT_THAT(folder.ids("<x>a"), ElementsAre(4, 1));
  EXPECT_THAT(folder.cautions(), ElementsAre(HasSubstr("<x> is number 4, not 1"), HasSubstr("a is number 1, not 7")));
  folder.with("tokenizer_config.json", json{{"added_tokens_decoder", {{"one", added("<x>")}}}});
  EXPECT_THAT(
      error_message<Error>([&] { static_cast<void>(folder.read()); }),
      HasSubstr("tokenizer_config.json: added_tokens_decoder: expected the numbers of tokens as keys, got \"one\""));
}

TEST(WordsBeside, ATokenizerJson) {
  Folder folder;
  const json stages = {{"normalizer",
                        {{"type", "BertNormalizer"},
                         {"clean_text", true},
                         {"handle_chinese_chars", true},
                         {"strip_accents", nullptr},
                         {"lowercase", true}}},
                       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                       {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                       {"model",
                        {{"type", "WordPiece"},
                         {"unk_token", "?"},
                         {"continuing_subword_prefix", "##"},
                         {"max_input_chars_per_word", 100},
                         {"vocab", {{"?", 0}, {"a", 1}, {"A", 2}, {"'", 3}, {"b", 4}}}}}};
  folder.with("tokenizer.json", stages);
  EXPECT_THAT(folder.ids("A"), ElementsAre(1));
  EXPECT_EQ(folder.read()->decode(Ids{1, 3, 4}), "a ' b");
  folder.with(
      "tokenizer_config.json",
      json{{"tokenizer_class", "BertTokenizerFast"}, {"do_lower_case", false}, {"clean_up_tokenization_spaces", true}});
  EXPECT_THAT(folder.ids("A"), ElementsAre(2));
  EXPECT_EQ(folder.read()->decode(Ids{1, 3, 4}), "a'b");
  folder.with("tokenizer_config.json", json{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"do_lower_case", false}});
  EXPECT_THAT(folder.ids("A"), ElementsAre(1));
  EXPECT_THAT(folder.cautions(), ElementsAre(HasSubstr("do_lower_case otherwise than tokenizer.json, which counts")));
  folder.with("tokenizer_config.json", json{{"add_bos_token", true}, {"bos_token", "a"}});
  EXPECT_THAT(folder.ids("A"), ElementsAre(1));
  EXPECT_THAT(folder.cautions(), ElementsAre(HasSubstr("add_bos_token true; tokenizer.json, which counts, puts no a")));
}

TEST(WordsBeside, EndsOfWordsAreBlanks) {
  const json vocab = {{"<s>", 0}, {"<e>", 1}, {"a</w>", 2}, {"cat</w>", 3}};
  Folder folder;
  folder.with(
      "tokenizer.json",
      json{{"added_tokens", {numbered(0, "<s>"), numbered(1, "<e>")}},
           {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}}},
           {"model", {{"type", "BPE"}, {"end_of_word_suffix", "</w>"}, {"vocab", vocab}, {"merges", json::array()}}}});
  EXPECT_EQ(folder.read()->decode(Ids{0, 2, 3, 2, 1}), "a</w>cat</w>a</w>");
  folder.with("tokenizer_config.json", json{{"tokenizer_class", "GPT2Tokenizer"}});
  EXPECT_EQ(folder.read()->decode(Ids{0, 2, 3, 2, 1}), "a</w>cat</w>a</w>");
  folder.with("tokenizer_config.json", json{{"tokenizer_class", "CLIPTokenizer"}});
  EXPECT_EQ(folder.read()->decode(Ids{0, 2, 3, 2, 1}), "a cat a");
  EXPECT_EQ(folder.read()->decode(Ids{0, 2, 3, 2, 1}, SpecialTokens::with), "<s>a cat a <e>");
}

TEST(Files, ClipsVocabAndMerges) {
  json vocab = json::object();
  for (int n = 0; n < 26; ++n) {
    const std::string letter(1, static_cast<char>('a' + n));
    vocab[letter] = n;
    vocab[letter + "</w>"] = 26 + n;
  }
  vocab["at</w>"] = 52;
  vocab["cat</w>"] = 53;
  vocab["<|startoftext|>"] = 54;
  vocab["<|endoftext|>"] = 55;
  Folder folder;
  folder.with("vocab.json", vocab).with("merges.txt", std::string("#version: 0.2\na t</w>\nc at</w>\n"));
  const Ids ids = folder.ids("A cat's  bat");
  EXPECT_THAT(ids, ElementsAre(54, 26, 53, 55, 44, 1, 52, 55));
  EXPECT_EQ(folder.read()->decode(ids), "a cat s bat");
}

// 0 <pad>, 1 </s>, 2 <unk>, 3 ▁, 4 ▁a, 5 ▁cat and letters, as T5's and SigLIP's files begin.
std::string t5_model() {
  tests::ModelProto model{.pieces = {{"<pad>", 0, tests::kControl},
                                     {"</s>", 0, tests::kControl},
                                     {"<unk>", 0, tests::kUnknown},
                                     {"▁", -3},
                                     {"▁a", -1},
                                     {"▁cat", -1.5},
                                     {"a", -4},
                                     {"c", -4},
                                     {"t", -4},
                                     {"s", -4}}};
  model.trainer.numbers[3] = 1;
  return tests::bytes_of(model);
}

// 0 <unk>, 1 <s>, 2 </s>, 3 ▁, …
std::string fairseq_model() {
  tests::ModelProto model{.pieces = {{"<unk>", 0, tests::kUnknown},
                                     {"<s>", 0, tests::kControl},
                                     {"</s>", 0, tests::kControl},
                                     {"▁", -3},
                                     {"▁a", -1},
                                     {"▁cat", -1.5}}};
  model.trainer.numbers[3] = 1;
  return tests::bytes_of(model);
}

TEST(SentencePieceFolders, T5HasSentinelsBehindItsPieces) {
  Folder folder;
  folder.with("spiece.model", t5_model()).with("config.json", json{{"model_type", "t5"}});
  EXPECT_THAT(folder.ids("a cat"), ElementsAre(4, 5, 1));
  EXPECT_THAT(folder.ids("a <extra_id_0> cat <extra_id_99>"), ElementsAre(4, 109, 5, 10, 1));
  EXPECT_THAT(folder.ids("a</s>cat"), ElementsAre(4, 1, 5, 1));
  EXPECT_EQ(folder.read()->decode(Ids{4, 109, 5, 10, 1}, SpecialTokens::with), "a<extra_id_0> cat<extra_id_99></s>");
  EXPECT_EQ(folder.read()->decode(Ids{4, 109, 5, 10, 1}), "a cat");
  const auto again = make_tokenizer(folder.read()->config());
  EXPECT_THAT(again->encode("a <extra_id_0> cat").ids, ElementsAre(4, 109, 5, 1));
  folder.with("tokenizer_config.json", json{{"tokenizer_class", "T5Tokenizer"}, {"extra_ids", 0}});
  EXPECT_EQ(folder.read()->size(), 10);
}

TEST(SentencePieceFolders, FairseqsNumbers) {
  Folder folder;
  folder.with("sentencepiece.bpe.model", fairseq_model()).with("config.json", json{{"model_type", "xlm-roberta"}});
  EXPECT_THAT(folder.ids("a cat<mask>a"), ElementsAre(0, 5, 6, 7, 5, 2));
  EXPECT_EQ(folder.read()->size(), 8);
  EXPECT_THAT(folder.read()->encode("a", {.pair = "cat"}).ids, ElementsAre(0, 5, 2, 2, 6, 2));
  folder.with("config.json", json{{"model_type", "camembert"}});
  EXPECT_THAT(folder.ids("a cat<mask>a é"), ElementsAre(5, 8, 9, 10, 8, 7, 3, 6));
}

TEST(SentencePieceFolders, SiglipsCleaning) {
  Folder folder;
  folder.with("spiece.model", t5_model()).with("tokenizer_config.json", json{{"tokenizer_class", "SiglipTokenizer"}});
  EXPECT_THAT(folder.ids("A, CAT's! "), ElementsAre(4, 5, 9, 1));
  EXPECT_THAT(folder.ids("a</s> cats </s>"), ElementsAre(4, 1, 7, 6, 8, 9, 1));
  EXPECT_THAT(folder.ids(""), ElementsAre(1));
  const auto tokenizer = folder.read();
  EXPECT_THAT(tests::parts_of(*tokenizer, "A CAT's"), ElementsAre("A", "CAT", "s", ""));
}

TEST(SentencePieceFolders, AddedTokensOfALlama) {
  Folder folder;
  tests::ModelProto model{.pieces = {{"<unk>", 0, tests::kUnknown},
                                     {"<s>", 0, tests::kControl},
                                     {"</s>", 0, tests::kControl},
                                     {"▁a", -1},
                                     {"a", -2},
                                     {"▁", -3}}};
  model.trainer.numbers[3] = 2;
  folder.with("tokenizer.model", tests::bytes_of(model)).with("added_tokens.json", json{{"<|im_start|>", 6}});
  folder.with("tokenizer_config.json", json{{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", true}});
  EXPECT_THAT(folder.ids("a<|im_start|>a</s>"), ElementsAre(1, 3, 6, 4, 2));
  folder.with("tokenizer_config.json",
              json{{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", true}, {"legacy", true}});
  EXPECT_THAT(folder.ids("a<|im_start|>a</s>"), ElementsAre(1, 3, 6, 3, 2));
}

// Files from elsewhere that would take all memory, or all time.
TEST(Bounds, OfWhatATokenizerJsonSays) {
  std::string nested = R"({"model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}, "normalizer": )";
  for (int n = 0; n < 20'000; ++n) nested += R"({"type": "Sequence", "normalizers": [)";
  for (int n = 0; n < 20'000; ++n) nested += "]}";
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(parse_tokenizer_json(nested + "}", "tokenizer.json")); }),
              HasSubstr("tokenizer.json: expected values at most 128 deep, got deeper ones at byte "));
  const auto says = [](const json& stages) {
    return error_message<Error>([&] { static_cast<void>(tests::cutting(stages)->encode("aaaa é")); });
  };
  const std::string kTooMuch = "tokenizer: expected stages that make at most 1049024 bytes or tokens of this text";
  const json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  EXPECT_THAT(says({{"normalizer", {{"type", "Sequence"}, {"normalizers", json(40, doubling)}}}}), HasSubstr(kTooMuch));
  const json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  EXPECT_THAT(says({{"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json(60, bytes)}}}}),
              HasSubstr(kTooMuch));
  json post = {{"type", "TemplateProcessing"}, {"pair", json::array()}, {"special_tokens", json::object()}};
  post["single"] = json(400, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  const auto repeating = tests::cutting({{"post_processor", post}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}});
  std::string words;
  for (int n = 0; n < 5000; ++n) words += "a ";
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(repeating->encode(words)); }),
              HasSubstr("tokenizer: expected stages that make at most 1688576 bytes or tokens"));
  const auto decoding = tests::cutting({{"decoder", {{"type", "Sequence"}, {"decoders", json(40, doubling)}}},
                                        {"added_tokens", {numbered(1, "aaaa", false)}}});
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(decoding->decode(Ids{1})); }),
              HasSubstr("tokenizer: expected stages that make at most 1048832 bytes"));
}

}  // namespace
}  // namespace qkv::files_beside_test
