// source.spm, target.spm and vocab.json. tests/models/check_tokenizer_folders.py holds them to `transformers`.
#include "text/marian.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "text/model_proto.h"
#include "text/tokenizer_folder.h"

namespace qkv::marian_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TokenizerFolder;
using Json = nlohmann::json;

std::string file_of(std::vector<tests::ProtoPiece> pieces) {
  tests::ModelProto model{.pieces = {{.text = "<unk>", .type = tests::kUnknown},
                                     {.text = "<s>", .type = tests::kControl},
                                     {.text = "</s>", .type = tests::kControl}}};
  model.pieces.insert(model.pieces.end(), pieces.begin(), pieces.end());
  return bytes_of(model);
}

// "▁hund" and "東" are of the target alone; "▁dog" is of the source and has no number.
Json vocabulary() {
  return {{"</s>", 0}, {"<unk>", 1},   {"▁a", 2}, {"b", 3},    {"▁hund", 4},
          {"東", 5},   {">>fra<<", 6}, {"▁", 7},  {"<pad>", 8}};
}

TokenizerFolder folder(const Json& pieces = vocabulary()) {
  return TokenizerFolder()
      .with("source.spm", file_of({{"▁a", -1}, {"b", -2}, {"▁dog", -1}, {"▁", -3}}))
      .with("target.spm", file_of({{"▁hund", -1}, {"b", -2}, {"▁", -3}}))
      .with("vocab.json", pieces);
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> pieces;
  for (const std::int32_t id : tokenizer.encode(text).ids) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

TEST(Marian, NumbersThePiecesOfTheSourceByTheVocabulary) {
  const auto tokenizer = folder().read();
  EXPECT_EQ(tokenizer->size(), 9);
  EXPECT_THAT(tokenizer->encode("ab a").ids, ElementsAre(2, 3, 2, 0));
  EXPECT_THAT(tokenizer->encode("ab", {.special = SpecialTokens::without}).ids, ElementsAre(2, 3));
  EXPECT_THAT(tokenizer->encode("ab a").offsets,
              ElementsAre(TextRange{0, 1}, TextRange{1, 2}, TextRange{2, 4}, TextRange{}));
}

TEST(Marian, CallsWhatHasNoNumberUnknown) {
  const auto tokenizer = folder().read();
  EXPECT_THAT(pieces_of(*tokenizer, "a dog"), ElementsAre("▁a", "<unk>", "</s>"));
  EXPECT_THAT(pieces_of(*tokenizer, "axyb"), ElementsAre("▁a", "<unk>", "b", "</s>"));
  EXPECT_THAT(tokenizer->encode("axyb").offsets[1], (TextRange{1, 3}));
}

// As `transformers` looks up what SentencePiece gives back: a character of the other language has its number.
TEST(Marian, FindsPiecesOfTheOtherLanguageByTheirText) {
  EXPECT_THAT(pieces_of(*folder().read(), "a東"), ElementsAre("▁a", "東", "</s>"));
  EXPECT_THAT(pieces_of(*folder().read(), "a東東"), ElementsAre("▁a", "<unk>", "</s>"));
}

TEST(Marian, ReadsACodeOfALanguageAtTheBegin) {
  const auto tokenizer = folder().read();
  EXPECT_THAT(pieces_of(*tokenizer, ">>fra<< ab"), ElementsAre(">>fra<<", "▁a", "b", "</s>"));
  EXPECT_THAT(pieces_of(*tokenizer, ">>deu<< ab"), ElementsAre("<unk>", "▁a", "b", "</s>"));
}

TEST(Marian, DecodesWithoutTheTokensAround) {
  const auto tokenizer = folder().read();
  const std::vector<std::int32_t> ids = {8, 2, 3, 4, 5, 0};
  EXPECT_EQ(tokenizer->decode(ids), "ab hund東");
  EXPECT_EQ(tokenizer->decode(ids, SpecialTokens::with), "<pad> ab hund東</s>");
}

TEST(Marian, ReadsTheTargetByItsOwnName) {
  const tests::TemporaryDirectory directory;
  write_file(directory / "target.spm", file_of({{"▁hund", -1}, {"b", -2}, {"▁", -3}}));
  write_file(directory / "vocab.json", vocabulary().dump());
  EXPECT_THAT(read_tokenizer(directory / "target.spm")->encode("hund b").ids, ElementsAre(4, 7, 3, 0));
}

TEST(Marian, ComesBackFromItsConfig) {
  const auto tokenizer = folder().read();
  const auto again = make_tokenizer(tokenizer->config());
  EXPECT_TRUE(have_same_pieces(*tokenizer, *again));
  EXPECT_EQ(again->config(), tokenizer->config());
  EXPECT_EQ(again->encode(">>fra<< ab dog").ids, tokenizer->encode(">>fra<< ab dog").ids);
}

TEST(Marian, HasTheTokensThatTheFilesBesideName) {
  Json pieces = vocabulary();
  pieces.erase("</s>");
  pieces["[END]"] = 0;
  const TokenizerFolder named = folder(pieces).with("tokenizer_config.json", Json{{"eos_token", "[END]"}});
  EXPECT_THAT(pieces_of(*named.read(), "ab"), ElementsAre("▁a", "b", "[END]"));
}

TEST(Marian, NamesWhatIsWrong) {
  const auto message = [](const TokenizerFolder& bad) {
    return error_message<Error>([&] { static_cast<void>(bad.read()); });
  };
  Json pieces = vocabulary();
  pieces["b"] = 9;
  EXPECT_THAT(message(folder(pieces)), HasSubstr("vocab.json: b: expected a whole number from 0 to 8, got 9"));
  pieces["b"] = 2;
  EXPECT_THAT(message(folder(pieces)), HasSubstr("vocab.json: expected a number for each piece, got 2 twice"));
  pieces = vocabulary();
  pieces.erase("<unk>");
  pieces["<none>"] = 1;
  EXPECT_THAT(message(folder(pieces)), HasSubstr("source.spm: expected a vocabulary with the token <unk>, got none"));
  EXPECT_THAT(message(folder(Json::array())), HasSubstr("vocab.json: expected an object of pieces and their numbers"));
  EXPECT_THAT(message(folder().with("tokenizer_config.json", Json{{"separate_vocabs", true}})),
              HasSubstr("separate_vocabs: expected false, one vocabulary for both languages, got true"));
  EXPECT_THAT(message(folder().with("source.spm", std::string("no message"))), HasSubstr("source.spm: "));
}

}  // namespace
}  // namespace qkv::marian_test
