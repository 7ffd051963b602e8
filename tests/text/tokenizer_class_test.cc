// Folders whose tokenizer_class, or model_type, decides. The numbers are those of transformers 5.23.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/error_message.h"
#include "text/model_proto.h"
#include "text/tokenizer_folder.h"

namespace qkv::tokenizer_class_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Ids = std::vector<std::int32_t>;
using Folder = tests::TokenizerFolder;

json named(const std::string& name) { return {{"tokenizer_class", name}}; }
json of_model(const std::string& type) { return {{"model_type", type}}; }

std::string refusal(const Folder& folder) {
  return error_message<Error>([&] { static_cast<void>(folder.read()); });
}

// 0 to 93 are the characters from ! to ~, 94 is a blank, and behind it stand RoBERTa's special tokens.
json characters(bool with_special) {
  json vocab = json::object();
  for (int c = 33; c < 127; ++c) vocab[std::string(1, static_cast<char>(c))] = c - 33;
  vocab["Ġ"] = 94;
  int id = 95;
  for (const char* token : {"<s>", "</s>", "<mask>", "<pad>", "<unk>", "[CLS]"}) {
    if (with_special) vocab[token] = id++;
  }
  return vocab;
}

Folder of_characters(bool with_special = true) {
  Folder folder;
  folder.with("vocab.json", characters(with_special)).with("merges.txt", std::string("#version: 0.2\n"));
  return folder;
}

TEST(TokenizerClass, AndNotThePiecesDecidesWhatIsAroundAText) {
  EXPECT_THAT(of_characters().with("config.json", of_model("roberta")).ids("a <mask> b"),
              ElementsAre(95, 64, 94, 97, 94, 65, 96));
  EXPECT_THAT(of_characters().ids("a"), ElementsAre(95, 64, 96)) << "where nothing is named, the pieces decide";
  EXPECT_THAT(of_characters().with("config.json", of_model("gpt2")).ids("a<s>"), ElementsAre(64, 27, 82, 29));
  EXPECT_THAT(of_characters().with("tokenizer_config.json", named("GPT2Tokenizer")).ids("a<s>"),
              ElementsAre(64, 27, 82, 29));
  json other = named("RobertaTokenizer");
  other.update({{"cls_token", "[CLS]"}, {"sep_token", "<pad>"}});
  EXPECT_THAT(of_characters().with("tokenizer_config.json", other).ids("a"), ElementsAre(100, 64, 98));
  EXPECT_THAT(of_characters(false).with("config.json", of_model("roberta")).ids("a"), ElementsAre(95, 64, 96));
}

constexpr const char* kBert = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncool\n##word\n[\n]\nnew\n";

Folder of_bert(const std::string& type = "bert") {
  Folder folder;
  folder.with("vocab.txt", std::string(kBert)).with("config.json", of_model(type));
  return folder;
}

TEST(AddedTokens, AreCountedOnWithoutGaps) {
  Folder folder = of_bert();
  folder.with("added_tokens.json", json{{"[NEW]", 15}, {"coolword", 20}});
  EXPECT_THAT(folder.ids("a [NEW] coolword"), ElementsAre(2, 5, 11, 12, 3));
  EXPECT_THAT(folder.cautions(), ElementsAre(HasSubstr("[NEW] is number 11, not 15"),
                                             HasSubstr("coolword is number 12, not 20 as the files beside the "
                                                       "tokenizer say, since transformers counts on")));
}

// In lower case, and shown so.
TEST(AddedTokens, AreLookedForInTheNormalisedText) {
  Folder folder = of_bert();
  folder.with("added_tokens.json", json{{"[NEW]", 11}});
  EXPECT_THAT(folder.ids("a [new] a"), ElementsAre(2, 5, 11, 5, 3));
  EXPECT_EQ(folder.read()->decode(Ids{2, 5, 11, 3}, SpecialTokens::with), "[CLS] a [new] [SEP]");
  folder.with("special_tokens_map.json", json{{"additional_special_tokens", {"[NEW]"}}});
  EXPECT_THAT(folder.ids("a [new] a"), ElementsAre(2, 5, 11, 5, 3));
  folder.with("special_tokens_map.json", json{{"extra_special_tokens", {"[NEW]"}}});
  EXPECT_THAT(folder.ids("a [new] a"), ElementsAre(2, 5, 8, 10, 9, 5, 3));
}

TEST(AddedTokens, WithNumbersBeyondReasonAreErrorsOfTheirFile) {
  EXPECT_THAT(refusal(of_bert().with("added_tokens.json", json{{"<x>", 2'000'000'000}})),
              HasSubstr("/added_tokens.json: expected numbers up to 65580, got 2000000000 for <x>"));
  EXPECT_THAT(refusal(of_bert().with("tokenizer_config.json",
                                     json{{"added_tokens_decoder", {{"1999999999", {{"content", "<x>"}}}}}})),
              HasSubstr("/tokenizer_config.json: added_tokens_decoder: expected numbers up to 65580, got 1999999999"));
}

TEST(TokenizerClass, ThatIsNotKnownIsNamedOrRefused) {
  EXPECT_THAT(of_bert("mpnet").ids("a"), ElementsAre(11, 5, 12));
  EXPECT_THAT(of_bert().cautions(), IsEmpty());
  EXPECT_THAT(of_bert().with("tokenizer_config.json", named("FunnelTokenizer")).cautions(),
              ElementsAre("the tokenizer_class FunnelTokenizer is not known: its file is read as that of "
                          "BertTokenizer"));
  for (const char* name : {"BertJapaneseTokenizer", "PhobertTokenizer", "BertweetTokenizer"}) {
    EXPECT_THAT(refusal(of_bert().with("tokenizer_config.json", named(name))),
                HasSubstr(std::string("vocab.txt: expected the file of one of BertTokenizer, ")));
    json config = of_model("bert");
    config.update(named(name));
    EXPECT_THAT(refusal(of_bert().with("config.json", config)),
                HasSubstr(std::string("got that of ") + name + ", which cuts texts in another way"));
  }
  const tests::ModelProto model{.pieces = {{"<unk>", 0, tests::kUnknown}, {"▁a", -1}}};
  for (const char* type : {"mbart", "nllb", "albert", "xlnet", "pegasus"}) {
    Folder folder;
    folder.with("spiece.model", tests::bytes_of(model)).with("config.json", of_model(type));
    EXPECT_THAT(refusal(folder), HasSubstr("spiece.model: expected the file of one of T5Tokenizer, ")) << type;
  }
  EXPECT_THAT(refusal(of_characters().with("config.json", of_model("deberta"))),
              HasSubstr("got that of DebertaTokenizer"));
  EXPECT_THAT(of_characters().with("tokenizer_config.json", named("LlamaTokenizer")).cautions(),
              ElementsAre(HasSubstr("LlamaTokenizer is not known: its file is read as that of GPT2Tokenizer")));
}

json special(int id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"single_word", false},
          {"special", true}};
}

json byte_level(bool blank) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", blank}, {"trim_offsets", true}, {"use_regex", true}};
}

TEST(BesideATokenizerJson, ByteLevelTokenizersHaveNoBlankUnlessTheySaySo) {
  const json vocab = {{"a", 0}, {"Ġ", 1}, {"<s>", 2}, {"</s>", 3}, {"[CLS]", 4}};
  const json model = {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}};
  json stages = {{"pre_tokenizer", byte_level(true)}, {"decoder", byte_level(true)}, {"model", model}};
  Folder folder;
  folder.with("tokenizer.json", stages);
  EXPECT_THAT(folder.ids("a"), ElementsAre(1, 0));
  for (const char* type : {"gpt2", "qwen2", "opt"}) {
    EXPECT_THAT(folder.with("config.json", of_model(type)).ids("a"), ElementsAre(0)) << type;
  }
  EXPECT_THAT(folder.with("config.json", of_model("bart")).ids("a"), ElementsAre(2, 0, 3));
  stages["post_processor"] = {{"type", "RobertaProcessing"},
                              {"sep", {"</s>", 3}},
                              {"cls", {"<s>", 2}},
                              {"trim_offsets", true},
                              {"add_prefix_space", true}};
  json config = named("RobertaTokenizer");
  config.update({{"cls_token", "[CLS]"}, {"add_prefix_space", true}});
  folder.with("tokenizer.json", stages).with("tokenizer_config.json", config);
  EXPECT_THAT(folder.ids("a"), ElementsAre(4, 1, 0, 3));
}

TEST(BesideATokenizerJson, BertsHaveTheTokensAroundATextThatTheFilesName) {
  const json around = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 2}}, {"cls", {"[CLS]", 1}}};
  const json vocab = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"a", 3}, {"<s>", 4}};
  const json model = {{"type", "WordPiece"},
                      {"unk_token", "[UNK]"},
                      {"continuing_subword_prefix", "##"},
                      {"max_input_chars_per_word", 100},
                      {"vocab", vocab}};
  Folder folder;
  folder.with("tokenizer.json", json{{"added_tokens", {special(0, "[UNK]"), special(1, "[CLS]"), special(2, "[SEP]")}},
                                     {"post_processor", around},
                                     {"model", model}});
  json config = named("BertTokenizer");
  config["cls_token"] = "<s>";
  EXPECT_THAT(folder.with("tokenizer_config.json", config).ids("a"), ElementsAre(4, 3, 2));
  EXPECT_THAT(folder.read()->encode("a", {.pair = "a"}).ids, ElementsAre(4, 3, 2, 3, 2));
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  EXPECT_THAT(folder.with("tokenizer_config.json", config).ids("a"), ElementsAre(1, 3, 2));
}

TEST(BesideATokenizerJson, LlamasStagesAreBuiltAnew) {
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"▁", 3}, {"a", 4}};
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (std::size_t n = 0; n < 256; ++n) {
    vocab[std::string("<0x") + kDigits[n / 16] + kDigits[n % 16] + ">"] = 5 + n;
  }
  const auto replace = [](const char* old, const char* by) {
    return json{{"type", "Replace"}, {"pattern", {{"String", old}}}, {"content", by}};
  };
  const json prepend = {{"type", "Prepend"}, {"prepend", "▁"}};
  const json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  const json decoders = {replace("▁", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}, strip};
  Folder folder;
  folder.with("tokenizer.json",
              json{{"added_tokens", {special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")}},
                   {"normalizer", {{"type", "Sequence"}, {"normalizers", {prepend, replace(" ", "▁")}}}},
                   {"decoder", {{"type", "Sequence"}, {"decoders", decoders}}},
                   {"model",
                    {{"type", "BPE"},
                     {"unk_token", "<unk>"},
                     {"byte_fallback", true},
                     {"fuse_unk", true},
                     {"vocab", vocab},
                     {"merges", json::array()}}}});
  folder.with("config.json", of_model("llama"));
  EXPECT_THAT(folder.ids("<s>a"), ElementsAre(1, 3, 4));
  EXPECT_THAT(folder.ids("  a"), ElementsAre(3, 3, 3, 4));
  const auto with = [&](const json& words) -> Folder& {
    json config = named("LlamaTokenizerFast");
    config.update(words);
    return folder.with("tokenizer_config.json", config);
  };
  with(json::object());
  EXPECT_THAT(folder.ids("<s>a"), ElementsAre(1, 4));
  EXPECT_THAT(folder.ids("  a"), ElementsAre(3, 3, 4));
  EXPECT_THAT(folder.ids("a</s> a"), ElementsAre(3, 4, 2, 3, 4));
  EXPECT_THAT(folder.cautions(), IsEmpty());
  with({{"legacy", true}});
  EXPECT_THAT(folder.ids("<s>a"), ElementsAre(1, 3, 4));
  EXPECT_THAT(folder.ids("a</s> a"), ElementsAre(3, 4, 2, 3, 4));
  with({{"add_prefix_space", false}});
  EXPECT_THAT(folder.ids("a</s> a"), ElementsAre(4, 2, 3, 4));
  EXPECT_EQ(folder.read()->decode(Ids{3, 4}), " a");
  folder.with("tokenizer_config.json",
              json{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"add_prefix_space", false}});
  EXPECT_THAT(folder.cautions(),
              ElementsAre(HasSubstr("add_prefix_space otherwise than tokenizer.json, which counts")));
}

TEST(Files, OfAnotherKindAreErrorsThatNameThem) {
  EXPECT_THAT(refusal(of_characters().with("vocab.json", json{"a"})),
              HasSubstr("/vocab.json: expected an object of pieces and their numbers, got a list"));
  EXPECT_THAT(refusal(of_bert().with("tokenizer_config.json", std::string("\xFF\xFE{\0}\0", 6))),
              HasSubstr("/tokenizer_config.json: expected a text in UTF-8, got UTF-16; save it as UTF-8"));
}

}  // namespace
}  // namespace qkv::tokenizer_class_test
