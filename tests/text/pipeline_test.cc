// Models, added tokens, templates, decoders and files.
#include "text/pipeline.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/files.h"
#include "qkv/text/train_tokenizer.h"

namespace qkv::pipeline_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::cutting;
using tests::json;
using tests::parts_of;
using tests::pieces_of;
using tests::with_model;

json added(int id, const char* content, const json& options = json::object()) {
  json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  token.update(options);
  return token;
}

json word_piece() {
  return {{"type", "WordPiece"},
          {"unk_token", "[UNK]"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 6},
          {"vocab", {{"[UNK]", 0}, {"un", 1}, {"##aff", 2}, {"##able", 3}, {"u", 4}, {"[SEP]", 5}}}};
}

json bpe(const json& options = json::object()) {
  json model = {
      {"type", "BPE"},
      {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"ab", 3}, {"abc", 4}, {"?", 5}, {"<0xC3>", 6}, {"<0xA9>", 7}}},
      {"merges", json::array({"a b", "ab c"})}};
  model.update(options);
  return model;
}

TEST(ShownToken, IsWhatAPieceStandsFor) {
  const json model = {{"type", "BPE"},
                      {"vocab", {{"Ġcat", 0}, {"Ċ", 1}, {"Ã", 2}, {"Ã©", 3}, {"ĉ", 4}, {"a", 5}}},
                      {"merges", json::array()}};
  const json stage = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const auto tokenizer = with_model(model, {{"decoder", stage}});
  std::vector<std::string> shown;
  for (std::int32_t id = 0; id < 6; ++id) shown.push_back(shown_token(*tokenizer, id));
  EXPECT_THAT(shown, ElementsAre("␣cat", "⏎", "<0xC3>", "é", "<0x09>", "a"));
  EXPECT_EQ(tokenizer->bytes(0), " cat");
  EXPECT_EQ(shown_token(*with_model(word_piece()), 2), "##aff");
  EXPECT_THROW(static_cast<void>(shown_token(*tokenizer, 6)), InvalidArgument);
}

TEST(WordPiece, TakesTheLongestPieceEachTime) {
  const auto tokenizer = with_model(word_piece(), {{"pre_tokenizer", {{"type", "BertPreTokenizer"}}}});
  EXPECT_THAT(pieces_of(*tokenizer, "unaff u unx"), ElementsAre("un", "##aff", "u", "[UNK]"));
  EXPECT_THAT(parts_of(*tokenizer, "unaff u unx"), ElementsAre("un", "aff", "u", "unx"));
  EXPECT_THAT(pieces_of(*tokenizer, "unaffable"), ElementsAre("[UNK]"));  // more than six characters
}

TEST(Bpe, MergesWhatWasMergedFirst) {
  EXPECT_THAT(pieces_of(*with_model(bpe()), "abcabb"), ElementsAre("abc", "ab", "b"));
  EXPECT_THAT(pieces_of(*with_model(bpe({{"unk_token", "?"}})), "axxb"), ElementsAre("a", "?", "?", "b"));
  EXPECT_THAT(pieces_of(*with_model(bpe({{"unk_token", "?"}, {"fuse_unk", true}})), "axxb"),
              ElementsAre("a", "?", "b"));
  const auto bytes = with_model(bpe({{"byte_fallback", true}, {"unk_token", "?"}}));
  EXPECT_THAT(pieces_of(*bytes, "aé"), ElementsAre("a", "<0xC3>", "<0xA9>"));
  EXPECT_THAT(parts_of(*bytes, "aé"), ElementsAre("a", "é", "é"));
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(with_model(bpe({{"dropout", 0.1}}))); }),
              HasSubstr("model: dropout: expected null or 0"));
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(with_model(bpe({{"merges", json::array({"a z"})}}))); }),
              HasSubstr("model: merges[0]: expected pieces of \"vocab\", got \"az\""));
}

TEST(Unigram, TakesThePathWithTheHighestScore) {
  json model = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab",
       json::parse(
           R"([["<unk>", 0], ["a", 0], ["b", 0], ["c", 0], ["d", 0], ["cd", 1], ["ab", 2], ["abc", 5], ["abcd", 10]])")}};
  const auto tokenizer = with_model(model);
  EXPECT_THAT(pieces_of(*tokenizer, "abcdacdxx"), ElementsAre("abcd", "a", "cd", "<unk>"));
  EXPECT_THAT(parts_of(*tokenizer, "abcdacdxx"), ElementsAre("abcd", "a", "cd", "xx"));
  model["unk_id"] = nullptr;
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(with_model(model)->encode("x")); }),
              HasSubstr("Unigram: text: expected pieces of the vocabulary"));
}

TEST(AddedTokens, AreReadWholeWithTheirSpaces) {
  const auto tokenizer =
      cutting({{"added_tokens",
                {added(1, "<s>", {{"lstrip", true}}), added(2, "day", {{"single_word", true}, {"special", false}}),
                 added(3, "Été", {{"normalized", true}})}},
               {"normalizer", {{"type", "Lowercase"}}}});
  EXPECT_THAT(parts_of(*tokenizer, "a  <s>b"), ElementsAre("a", "  <s>", "b"));
  EXPECT_THAT(parts_of(*tokenizer, "a day days"), ElementsAre("a ", "day", " days"));
  EXPECT_THAT(tokenizer->encode("ÉTÉ").ids, ElementsAre(3));
  EXPECT_EQ(tokenizer->size(), 4);
  EXPECT_EQ(tokenizer->id("<s>"), 1);
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(cutting({{"added_tokens", {added(7, "?")}}})); }),
              HasSubstr("added_tokens[0]: id: expected 0, the number of this piece, got 7"));
}

TEST(Templates, PutSpecialTokensAroundOneTextOrTwo) {
  const auto tokenizer = with_model(
      word_piece(), {{"added_tokens", {added(5, "[SEP]")}},
                     {"post_processor", {{"type", "BertProcessing"}, {"cls", {"[SEP]", 5}}, {"sep", {"[SEP]", 5}}}}});
  EXPECT_THAT(tokenizer->encode("un").ids, ElementsAre(5, 1, 5));
  EXPECT_THAT(tokenizer->encode("un", {.special = SpecialTokens::without}).ids, ElementsAre(1));
  const Encoding both = tokenizer->encode("un", {.pair = "u"});
  EXPECT_THAT(both.ids, ElementsAre(5, 1, 5, 4, 5));
  EXPECT_THAT(both.types, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(both.sources, ElementsAre(TokenSource::added, TokenSource::text, TokenSource::added, TokenSource::pair,
                                        TokenSource::added));
  EXPECT_THAT(both.offsets[3], (TextRange{0, 1}));
  EXPECT_EQ(tokenizer->decode(both.ids), "un u");
  EXPECT_EQ(tokenizer->decode(both.ids, SpecialTokens::with), "[SEP] un [SEP] u [SEP]");
}

TEST(Decoders, MakeATextOfPieces) {
  const auto text = [](const json& decoder, std::initializer_list<std::int32_t> ids) {
    const json vocab = {{"▁a", 0}, {"##b", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}, {"Ġc", 4}, {"d</w>", 5}, {"?", 6}};
    return with_model({{"type", "WordLevel"}, {"vocab", vocab}, {"unk_token", "?"}}, {{"decoder", decoder}})
        ->decode(std::vector<std::int32_t>(ids));
  };
  EXPECT_EQ(text({{"type", "Metaspace"}, {"replacement", "▁"}}, {0, 0}), "a a");
  EXPECT_EQ(text({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}, {4, 1, 6}), "Ġcb?");
  EXPECT_EQ(text({{"type", "ByteFallback"}}, {2, 3, 0, 2}), "é▁a\uFFFD");
  EXPECT_EQ(text({{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}}, {4, 4}), " c c");
  EXPECT_EQ(text({{"type", "BPEDecoder"}, {"suffix", "</w>"}}, {5, 5}), "d d");
  const json strip = {{"type", "Strip"}, {"content", "▁"}, {"start", 1}, {"stop", 0}};
  EXPECT_EQ(text({{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, strip}}}, {0, 0}), "a▁a");
}

TEST(Pipelines, ComeBackFromTheirConfig) {
  const auto tokenizer = with_model(bpe());
  const auto again = make_tokenizer(tokenizer->config());
  EXPECT_TRUE(have_same_pieces(*tokenizer, *again));
  EXPECT_EQ(again->encode("abcb").ids, tokenizer->encode("abcb").ids);
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(make_tokenizer({{"kind", "tokenizer.json"}})); }),
              HasSubstr("json: expected a value, got none"));
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(tokenizer->piece(8)); }),
              HasSubstr("id: expected from 0 to 7, got 8"));
}

TEST(Files, AreReadOutOfAFolder) {
  const tests::TemporaryDirectory directory;
  const std::filesystem::path folder = directory.path();
  EXPECT_THAT(
      error_message<Error>([&] { static_cast<void>(read_tokenizer(folder.string())); }),
      HasSubstr("expected a folder with one of tokenizer.json, vocab.txt, source.spm, vocab.json, tokenizer.model"));
  write_file((folder / "vocab.txt").string(), "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n##y\n");
  EXPECT_THAT(pieces_of(*read_tokenizer(folder.string()), "They"), ElementsAre("[CLS]", "the", "##y", "[SEP]"));
  write_file((folder / "tokenizer_config.json").string(), R"({"do_lower_case": false})");
  EXPECT_THAT(pieces_of(*read_tokenizer(folder.string()), "They"), ElementsAre("[CLS]", "[UNK]", "[SEP]"));
  write_file((folder / "vocab.json").string(), R"({"a": 0, "Ġ": 1, "Ġa": 2})");
  write_file((folder / "merges.txt").string(), "#version: 0.2\nĠ a\n");
  EXPECT_THAT(pieces_of(*read_tokenizer((folder / "vocab.json").string()), "a a"), ElementsAre("a", "Ġa"));
  write_file((folder / "tokenizer.model").string(), "not one");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(read_tokenizer((folder / "tokenizer.model").string())); }),
              HasSubstr("tokenizer.model: expected a SentencePiece model, got bytes that are none: "));
}

TEST(TrainTokenizer, MergesTheMostFrequentPairFirst) {
  const std::string text = "low low low lower lower newest newest newest newest newest newest";
  const std::string made = train_tokenizer(text, {.size = 262});
  EXPECT_EQ(made, train_tokenizer(text, {.size = 262}));
  const json merges = json::parse(made)["model"]["merges"];
  EXPECT_EQ(merges[0], json({"w", "e"}));  // 2 of "lower", 6 of "newest"
  EXPECT_EQ(merges.size(), 5U);
  const auto tokenizer = parse_tokenizer_json(made, "made");
  EXPECT_EQ(tokenizer->size(), 262);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("löw\n\xFF").ids), "löw\n\uFFFD");
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(train_tokenizer(text, {.size = 256})); }),
              HasSubstr("size: expected from 257 to 16777216, got 256"));
}

}  // namespace
}  // namespace qkv::pipeline_test
