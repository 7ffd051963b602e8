// Normalisers and pre-tokenisers: expected values are those of the tokenizers library.
#include <gmock/gmock.h>

#include "core/error_message.h"
#include "text/aligned_text.h"
#include "text/json_field.h"
#include "text/normalizer.h"
#include "text/pipeline.h"

namespace qkv::stages_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::cutting;
using tests::json;
using tests::parts_of;

std::string normalized(const json& stage, std::string_view original) {
  text::AlignedText aligned(original, 0, original.size());
  text::read_normalizer(text::JsonField(stage, "stage"))->apply(aligned);
  return aligned.text();
}

TEST(Normalizers, ChangeATextAsTheirNamesSay) {
  EXPECT_EQ(normalized({{"type", "NFC"}}, "e\u0301"), "é");
  EXPECT_EQ(normalized({{"type", "NFD"}}, "é"), "e\u0301");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "ﬁ①"), "fi1");
  EXPECT_EQ(normalized({{"type", "NFKD"}}, "Å"), "A\u030A");
  EXPECT_EQ(normalized({{"type", "NFC"}}, "\u1100\u1161\u11A8"), "각");
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "ÀİB"), "ài\u0307b");
  EXPECT_EQ(normalized({{"type", "StripAccents"}}, "e\u0301x"), "ex");
  EXPECT_EQ(normalized({{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}, "\u3000 a "), "a ");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "▁"}}, "a"), "▁a");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "▁"}}, ""), "");
  EXPECT_EQ(normalized({{"type", "Nmt"}}, "a\x01\t\u200Bb"), "a  b");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", "-"}}, "baab"), "b-b");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"String", "a+"}}}, {"content", "-"}}, "aa+"), "a-");
  EXPECT_EQ(normalized({{"type", "ByteLevel"}}, " é"), "ĠÃ©");
}

TEST(Normalizers, CleanATextAsBertDoes) {
  json stage = {{"type", "BertNormalizer"},
                {"clean_text", true},
                {"handle_chinese_chars", true},
                {"strip_accents", nullptr},
                {"lowercase", true}};
  EXPECT_EQ(normalized(stage, std::string("A\0\xFF\tÉ日", 9)), "a e 日 ");
  stage["lowercase"] = false;
  EXPECT_EQ(normalized(stage, "É"), "É");
  stage["strip_accents"] = true;
  EXPECT_EQ(normalized(stage, "É"), "E");
}

TEST(Normalizers, KeepTheBytesBehindEachCharacter) {
  text::AlignedText aligned(
      "a\xFF"
      "e\u0301",
      0, 5);
  EXPECT_EQ(aligned.text(), "a\uFFFDe\u0301");
  EXPECT_EQ(aligned.origin(1, 4), (text::OriginalRange{1, 2}));
  text::normalize(aligned, text::UnicodeForm::nfc);
  EXPECT_EQ(aligned.text(), "a\uFFFDé");
  EXPECT_EQ(aligned.origin(4, 6), (text::OriginalRange{2, 3}));  // of the first part
}

TEST(Normalizers, ReadBytesThatAreNoUtf8AsPythonDoes) {
  const auto read = [](std::string_view bytes) { return text::AlignedText(bytes, 0, bytes.size()).text(); };
  const std::string bad = "\uFFFD";
  EXPECT_EQ(read("\xF0\x9F\x98"), bad);
  EXPECT_EQ(read("\xED\xA0\x80"), bad + bad + bad);
  EXPECT_EQ(read("\xC0\xAF"), bad + bad);
  EXPECT_EQ(read("\xE2\x82x"), bad + "x");
  EXPECT_EQ(read("\xF4\x90"), bad + bad);
}

TEST(PreTokenizers, CutATextAsTheirNamesSay) {
  const auto cut = [](const json& stage, std::string_view text) {
    return parts_of(*cutting({{"pre_tokenizer", stage}}), text);
  };
  EXPECT_THAT(cut({{"type", "BertPreTokenizer"}}, "Hey, you?!"), ElementsAre("Hey", ",", "you", "?", "!"));
  EXPECT_THAT(cut({{"type", "Whitespace"}}, "a_b ..! é"), ElementsAre("a_b", "..!", "é"));
  EXPECT_THAT(cut({{"type", "WhitespaceSplit"}}, "a\u3000b."), ElementsAre("a", "b."));
  EXPECT_THAT(cut({{"type", "Digits"}, {"individual_digits", true}}, "a12"), ElementsAre("a", "1", "2"));
  EXPECT_THAT(cut({{"type", "Digits"}, {"individual_digits", false}}, "a12b"), ElementsAre("a", "12", "b"));
  EXPECT_THAT(cut({{"type", "CharDelimiterSplit"}, {"delimiter", "x"}}, "axb"), ElementsAre("a", "b"));
  EXPECT_THAT(cut({{"type", "FixedLength"}, {"length", 2}}, "éab"), ElementsAre("éa", "b"));
  EXPECT_THAT(cut({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}, "It's 12  x"),
              ElementsAre("It", "'s", " 12", " ", " x"));
  EXPECT_THAT(cut({{"type", "Metaspace"}, {"replacement", "▁"}}, "a  b"), ElementsAre("a", " ", " b"));
}

TEST(PreTokenizers, KeepOrJoinWhatTheyCutAt) {
  const auto cut = [](const char* behavior) {
    const json stage = {{"type", "Split"}, {"pattern", {{"String", "-"}}}, {"behavior", behavior}, {"invert", false}};
    return parts_of(*cutting({{"pre_tokenizer", stage}}), "the-final--countdown");
  };
  EXPECT_THAT(cut("Removed"), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(cut("Isolated"), ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(cut("MergedWithPrevious"), ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(cut("MergedWithNext"), ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(cut("Contiguous"), ElementsAre("the", "-", "final", "--", "countdown"));
}

TEST(Stages, AreRefusedWhereTheyAreUnknown) {
  const auto message = [](const json& stages) {
    return error_message<Error>([&] { static_cast<void>(cutting(stages)); });
  };
  EXPECT_THAT(message({{"normalizer", {{"type", "Rot13"}}}}),
              testing::AllOf(HasSubstr("tokenizer.json: normalizer: type: expected Sequence, BertNormalizer, "),
                             HasSubstr(", got \"Rot13\"")));
  EXPECT_EQ(message({{"normalizer", {{"type", "NFC"}, {"level", 2}}}}),
            "tokenizer.json: normalizer: expected no other options than type, got \"level\"");
  EXPECT_THAT(message({{"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Cut"}}}}}}}),
              HasSubstr("tokenizer.json: pre_tokenizer: pretokenizers[0]: type: expected "));
  EXPECT_THAT(message({{"post_processor", {{"type", "X"}}}}), HasSubstr("post_processor: type: expected Template"));
  EXPECT_THAT(message({{"decoder", {{"type", "CTC"}}}}), HasSubstr("decoder: type: expected Sequence, "));
  EXPECT_EQ(message({{"version", "2.0"}}), "tokenizer.json: version: expected \"1.0\", got \"2.0\"");
  EXPECT_THAT(message({{"colour", 1}}), HasSubstr("tokenizer.json: expected no other options than version, "));
  EXPECT_THAT(message({{"model", {{"type", "Magic"}}}}), HasSubstr("model: type: expected BPE, Unigram, WordPiece"));
  const json regex = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}, {"invert", false}};
  EXPECT_THAT(message({{"pre_tokenizer", regex}}),
              HasSubstr("pre_tokenizer: pattern: Regex: expected a regular expression, got \"(a\": missing"));
  EXPECT_THAT(error_message<Error>([] { static_cast<void>(parse_tokenizer_json("{", "x.json")); }),
              HasSubstr("x.json: expected JSON, got other text at line 1, column 2: "));
}

}  // namespace
}  // namespace qkv::stages_test
