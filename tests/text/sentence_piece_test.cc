// tokenizer.model: what SentencePiece does, and what it refuses. tests/models/check_tokenizers.py compares the two.
#include "text/sentence_piece.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "core/error_message.h"
#include "text/model_proto.h"
#include "text/pipeline.h"

namespace qkv::sentence_piece_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::bytes_of;
using tests::ModelProto;
using tests::parts_of;
using tests::pieces_of;
using tests::ProtoPiece;
using tests::tokenizer_of;

constexpr std::uint32_t kModelType = 3;  // of the trainer; 1 unigram, 2 BPE, 3 words, 4 characters
constexpr std::uint32_t kSuffix = 24;
constexpr std::uint32_t kByteFallback = 35;
constexpr std::uint32_t kUnknownSurface = 44;
constexpr std::uint32_t kCharsmap = 2;  // of the normalizer
constexpr std::uint32_t kDummyPrefix = 3;
constexpr std::uint32_t kRemoveExtra = 4;

ModelProto model_of(std::vector<ProtoPiece> pieces, int type) {
  ModelProto model{.pieces = {{.text = "<unk>", .type = tests::kUnknown}, {.text = "<s>", .type = tests::kControl}}};
  model.pieces.insert(model.pieces.end(), pieces.begin(), pieces.end());
  model.trainer.numbers[kModelType] = type;
  return model;
}

ModelProto unigram() { return model_of({{"▁", -2}, {"▁a", -2}, {"b", -3}, {"ab", -3.5}, {"▁ab", -4.5}, {"a", -4}}, 1); }

ModelProto with_bytes(ModelProto model) {
  const std::vector<ProtoPiece> bytes = tests::byte_pieces();
  model.pieces.insert(model.pieces.end(), bytes.begin(), bytes.end());
  model.trainer.numbers[kByteFallback] = 1;
  return model;
}

TEST(SentencePiece, TakesTheWayWithTheHighestSum) {
  const auto tokenizer = tokenizer_of(bytes_of(unigram()));
  EXPECT_THAT(pieces_of(*tokenizer, "ab aab"), ElementsAre("▁ab", "▁a", "ab"));
  EXPECT_THAT(parts_of(*tokenizer, "ab aab"), ElementsAre("ab", " a", "ab"));
}

TEST(SentencePiece, JoinsWhatIsUnknown) {
  const auto tokenizer = tokenizer_of(bytes_of(unigram()));
  EXPECT_THAT(pieces_of(*tokenizer, "a日本b\xFF"), ElementsAre("▁a", "<unk>", "b", "<unk>"));
  EXPECT_THAT(parts_of(*tokenizer, "a日本b\xFF"), ElementsAre("a", "日本", "b", "\xFF"));
}

TEST(SentencePiece, GivesEachByteThePlaceOfItsCharacter) {
  const auto tokenizer = tokenizer_of(bytes_of(with_bytes(unigram())));
  EXPECT_THAT(pieces_of(*tokenizer, "éb"), ElementsAre("▁", "<0xC3>", "<0xA9>", "b"));
  EXPECT_THAT(parts_of(*tokenizer, "éb"), ElementsAre("", "é", "é", "b"));
}

TEST(SentencePiece, SumsInFloatAndStartsAnewFarDown) {
  ModelProto model = model_of({{"a", -20000}, {"aa", -40000.0001F}, {"b", -1}, {"ab", -20001.001F}}, 1);
  model.normalizer.numbers[kDummyPrefix] = 0;
  const auto tokenizer = tokenizer_of(bytes_of(model));
  const std::vector<std::string> pieces = pieces_of(*tokenizer, "aaaaaaaaaaaaab");
  EXPECT_EQ(pieces.front(), "a");  // -40000 and -40000.0001 are one float, of which the first is kept
  EXPECT_EQ(pieces.back(), "b");
}

TEST(SentencePiece, TreatsSpacesAsTheFileSays) {
  ModelProto model = unigram();
  const auto parts = [&](std::string_view text) { return pieces_of(*tokenizer_of(bytes_of(model)), text); };
  EXPECT_THAT(parts("  a  "), ElementsAre("▁a"));
  EXPECT_THAT(parts("   "), ElementsAre());
  model.normalizer.numbers[kRemoveExtra] = 0;
  EXPECT_THAT(parts(" a "), ElementsAre("▁", "▁a", "▁"));
  model.trainer.numbers[kSuffix] = 1;
  EXPECT_THAT(parts("a"), ElementsAre("a", "▁"));
  model.normalizer.numbers[kDummyPrefix] = 0;
  EXPECT_THAT(parts("a"), ElementsAre("a"));
  EXPECT_THAT(parts(""), ElementsAre());
}

TEST(SentencePiece, MergesTheHighestScoreFirst) {
  ModelProto model = model_of({{"a", -9}, {"b", -9}, {"ab", -2}, {"ba", -1}, {"bab", -3}, {"éa", -1}}, 2);
  model.normalizer.numbers[kDummyPrefix] = 0;
  const auto tokenizer = tokenizer_of(bytes_of(model));
  EXPECT_THAT(pieces_of(*tokenizer, "abab"), ElementsAre("a", "bab"));
  EXPECT_THAT(pieces_of(*tokenizer, "abaab"), ElementsAre("a", "ba", "ab"));
  EXPECT_THAT(pieces_of(*tokenizer, "ééa"), ElementsAre("<unk>", "éa"));  // of two characters, one is no piece
}

TEST(SentencePiece, TakesUnusedPiecesApartAgain) {
  ModelProto model = model_of(
      {{"a", -9}, {"b", -9}, {"ab", -1}, {"aba", -2, tests::kUnused}, {"c", -9, tests::kUnused}, {"ba", -3}}, 2);
  model.normalizer.numbers[kDummyPrefix] = 0;
  EXPECT_THAT(pieces_of(*tokenizer_of(bytes_of(model)), "abac"), ElementsAre("ab", "a", "<unk>"));
}

TEST(SentencePiece, NeverMergesWhatIsUserDefined) {
  ModelProto model =
      model_of({{"a", -1}, {"b", -1}, {"ab", -1}, {"xa", 0, tests::kUserDefined}, {"  ", 0, tests::kUserDefined}}, 2);
  model.normalizer.numbers[kDummyPrefix] = 0;
  const auto tokenizer = tokenizer_of(bytes_of(model));
  EXPECT_THAT(pieces_of(*tokenizer, "xabab"), ElementsAre("xa", "b", "ab"));
}

TEST(SentencePiece, FindsWordsAndCharacters) {
  const auto words = tokenizer_of(bytes_of(model_of({{"▁a", 0}, {"▁", 0}}, 3)));
  EXPECT_THAT(pieces_of(*words, "a b a"), ElementsAre("▁a", "<unk>", "▁a"));
  const auto characters = tokenizer_of(bytes_of(model_of({{"▁", 0}, {"é", 0}, {"aé", 0, tests::kUserDefined}}, 4)));
  EXPECT_THAT(pieces_of(*characters, "éaéa"), ElementsAre("▁", "é", "aé", "<unk>"));
}

TEST(SentencePiece, JoinsTokensToATextAgain) {
  ModelProto model = with_bytes(unigram());
  model.trainer.texts[kUnknownSurface] = "?";
  model.normalizer.numbers[kRemoveExtra] = 0;
  const auto text = [&](const std::vector<std::int32_t>& ids) { return tokenizer_of(bytes_of(model))->decode(ids); };
  constexpr std::int32_t kFirstByte = 8;
  EXPECT_EQ(text({2, 3, 0, 4}), " a?b");
  EXPECT_EQ(text({kFirstByte + 0xC3, kFirstByte + 0xA9, kFirstByte + 0xF0, kFirstByte + 0x9F, 4}), "é\uFFFD\uFFFDb");
  EXPECT_EQ(text({kFirstByte + 0xC3, 1, kFirstByte + 0xA9}), "\uFFFD\uFFFD");
  EXPECT_EQ(tokenizer_of(bytes_of(model))->decode(std::vector{1, 3, 1, 3}, SpecialTokens::with), "<s>a<s>a");
  model.normalizer.numbers[kRemoveExtra] = 1;
  EXPECT_EQ(text({2, 3, 3}), "a a");
}

TEST(SentencePiece, ComesBackFromItsConfig) {
  const auto tokenizer =
      text::read_sentence_piece(bytes_of(unigram()), text::SentencePieceOptions{.ends = {.bos = true}}, "a.model");
  const auto again = make_tokenizer(tokenizer->config());
  EXPECT_TRUE(have_same_pieces(*tokenizer, *again));
  EXPECT_THAT(again->encode("ab").ids, ElementsAre(1, 6));
  EXPECT_EQ(again->find("<s>"), 1);
  EXPECT_EQ(again->find("c"), std::nullopt);
}

TEST(SentencePiece, SaysWhatIsWrongWithAFile) {
  const auto fault = [](const ModelProto& model) {
    return error_message<Error>([&] { static_cast<void>(tokenizer_of(bytes_of(model))); });
  };
  EXPECT_EQ(fault({}), "a.model: expected a SentencePiece model, got one without pieces");
  EXPECT_EQ(fault({.pieces = {{"a"}}}), "a.model: expected a piece for what is unknown, got none");
  EXPECT_THAT(fault(model_of({{"a"}, {"a"}}, 1)), HasSubstr("expected each piece once, got piece 3, \"a\" again"));
  EXPECT_THAT(fault(model_of({{""}}, 1)), HasSubstr("expected a text for piece 2, got none"));
  EXPECT_THAT(fault(model_of({{"\xC3"}}, 1)), HasSubstr("expected UTF-8 in piece 2, \"\uFFFD\", got other bytes"));
  EXPECT_THAT(fault(model_of({{std::string(8000, 'a')}}, 1)), HasSubstr("less than 8000 bytes, got 8000 in piece 2"));
  EXPECT_THAT(fault(model_of({{"a", 0, 7}}, 1)), HasSubstr("a type from 1 to 6 for piece 2, \"a\", got 7"));
  EXPECT_THAT(fault(model_of({{"a", NAN}}, 1)), HasSubstr("a finite score for piece 2, \"a\", got nan"));
  EXPECT_THAT(fault(model_of({{std::string("\0", 1)}}, 1)), HasSubstr("no zero byte in piece 2"));
  EXPECT_THAT(fault(model_of({{"<0x41>", 0, tests::kByte}}, 1)),
              HasSubstr("no pieces for bytes without byte_fallback, got piece 2, \"<0x41>\""));
  EXPECT_THAT(fault(model_of({{"a"}}, 5)), HasSubstr("a model_type from 1 to 4, got 5"));
  ModelProto model = unigram();
  model.trainer.numbers[kByteFallback] = 1;
  EXPECT_THAT(fault(model), HasSubstr("a piece for each of 256 bytes, got none for byte 0"));
  model = unigram();
  model.normalizer.texts[kCharsmap] = "abcdefgh";
  EXPECT_THAT(fault(model), HasSubstr("a.model: normalizer_spec: expected a double array"));
  EXPECT_THAT(error_message<Error>([] {
                static_cast<void>(text::read_sentence_piece(
                    bytes_of(unigram()), text::SentencePieceOptions{.ends = {.eos = true}}, "a.model"));
              }),
              HasSubstr("expected a control piece </s> to put around texts, got none"));
}

TEST(SentencePiece, RefusesEveryPartOfAFile) {
  const std::string bytes = bytes_of(with_bytes(unigram()));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      static_cast<void>(tokenizer_of(bytes.substr(0, size))->encode("a b\xFF"));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.model: expected "));
    }
  }
}

// The definition: the best two neighbours of all, the leftmost of equals, over and over.
std::vector<std::string> merged(const std::map<std::string, float>& scores, std::vector<std::string> symbols) {
  while (true) {
    std::size_t best = symbols.size();
    for (std::size_t n = 0; n + 1 < symbols.size(); ++n) {
      const auto both = scores.find(symbols[n] + symbols[n + 1]);
      if (both == scores.end()) continue;
      if (best == symbols.size() || both->second > scores.at(symbols[best] + symbols[best + 1])) best = n;
    }
    if (best == symbols.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

RC_GTEST_PROP(SentencePieceProperty, PartsHaveTheMergesOfTheWhole, ()) {
  const std::vector<std::string> alphabet = {"a", "b", "▁", "é", "日"};
  const auto any_text = rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(alphabet));
  std::map<std::string, float> scores;
  for (const std::string& one : alphabet) scores[one] = -100;
  for (const auto& piece : *rc::gen::container<std::vector<std::vector<std::string>>>(any_text)) {
    std::string text;
    for (std::size_t n = 0; n < std::min<std::size_t>(piece.size(), 4); ++n) text += piece[n];
    if (!text.empty()) scores.emplace(text, static_cast<float>(*rc::gen::inRange(-5, 0)));
  }
  std::vector<ProtoPiece> pieces;
  for (const auto& [text, score] : scores) pieces.push_back({.text = text, .score = score});
  ModelProto model = model_of(pieces, 2);
  model.normalizer.numbers = {{kDummyPrefix, 0}, {kRemoveExtra, 0}};
  const std::vector<std::string> symbols = *any_text;
  std::string text;
  for (const std::string& symbol : symbols) text += symbol;
  RC_ASSERT(pieces_of(*tokenizer_of(bytes_of(model)), text) == merged(scores, symbols));
}

}  // namespace
}  // namespace qkv::sentence_piece_test
