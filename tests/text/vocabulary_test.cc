#include "qkv/text/vocabulary.h"

#include <gmock/gmock.h>

#include "core/error_message.h"

namespace qkv::vocabulary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> cut(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> parts;
  for (const TextRange& range : tokenizer.encode(text).offsets) {
    parts.emplace_back(text.substr(range.begin, range.end - range.begin));
  }
  return parts;
}

TEST(Vocabulary, ReadsLettersOneByOneAndSpecialTokensWhole) {
  const Vocabulary vocabulary({"<pad>", "<s>", "a", "b"}, TextForm::letters);
  EXPECT_THAT(vocabulary.encode("<s>ab a<pad>").ids, ElementsAre(1, 2, 3, 2, 0));
  EXPECT_THAT(cut(vocabulary, "<s>ab a<pad>"), ElementsAre("<s>", "a", "b", "a", "<pad>"));
  EXPECT_EQ(vocabulary.decode(std::vector<std::int32_t>{1, 2, 3}), "<s>ab");
  EXPECT_THAT(vocabulary.encode(" ").ids, ElementsAre());
}

TEST(Vocabulary, EndsAWordAtASpaceOrAnApostrophe) {
  const Vocabulary vocabulary({"<pad>", "l'", "homme", "dort"}, TextForm::words);
  const Encoding encoding = vocabulary.encode("l'homme  dort");
  EXPECT_THAT(encoding.ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(encoding.offsets, ElementsAre(TextRange{0, 2}, TextRange{2, 7}, TextRange{9, 13}));
  EXPECT_EQ(vocabulary.decode(encoding.ids), "l'homme dort");
}

TEST(Vocabulary, CutsLettersByCharacter) {
  const Vocabulary vocabulary({"<pad>", "h", "é"}, TextForm::letters);
  EXPECT_EQ(vocabulary.encode("hé h").ids, (std::vector<std::int32_t>{1, 2, 1}));
  EXPECT_THAT(cut(vocabulary, "hé h"), ElementsAre("h", "é", "h"));
  EXPECT_THAT(error_message([&] { static_cast<void>(vocabulary.encode("hü")); }), HasSubstr("got \"ü\""));
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.encode("h\303")); }),
            "Vocabulary::encode: text: expected UTF-8, got bytes that are none");
}

TEST(Vocabulary, KeepsEveryCharacterOfAText) {
  const Vocabulary vocabulary({"<pad>", "<unknown>", "<", "a", " "}, TextForm::characters);
  EXPECT_THAT(vocabulary.encode("<a é").ids, ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(cut(vocabulary, "<a é"), ElementsAre("<", "a", " ", "é"));
}

TEST(Vocabulary, RefusesWhatItDoesNotHave) {
  const Vocabulary vocabulary({"<pad>", "woman", "king"}, TextForm::words);
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.encode("womann")); }),
            "Vocabulary::encode: text: expected a piece of the vocabulary, such as \"woman\", got \"womann\"");
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.id("zzzz")); }),
            "Tokenizer::id: piece: expected a piece of the vocabulary, got \"zzzz\"");
  EXPECT_EQ(error_message([&] { static_cast<void>(vocabulary.piece(3)); }),
            "Vocabulary::piece: id: expected from 0 to 2, got 3");
  EXPECT_EQ(error_message([] { Vocabulary({"a", "b", "a"}, TextForm::letters); }),
            "Vocabulary: pieces: expected each one once, got \"a\" twice");
  EXPECT_EQ(vocabulary.find("queen"), std::nullopt);
}

TEST(Vocabulary, ComesBackFromItsConfig) {
  for (const TextForm form : {TextForm::letters, TextForm::words, TextForm::characters}) {
    const Vocabulary vocabulary({"<pad>", "5:a", "", "é", "\n"}, form);
    const auto again = make_tokenizer(vocabulary.config());
    EXPECT_TRUE(have_same_pieces(vocabulary, *again));
    EXPECT_EQ(again->config(), vocabulary.config());
  }
  EXPECT_FALSE(have_same_pieces(Vocabulary({"a", "b"}, TextForm::words), Vocabulary({"b", "a"}, TextForm::words)));
}

TEST(Vocabulary, RefusesAConfigWithoutMeaning) {
  const auto message = [](const std::map<std::string, std::string>& config) {
    return error_message([&] { static_cast<void>(make_tokenizer(config)); });
  };
  EXPECT_EQ(message({}), "make_tokenizer: kind: expected a value, got none");
  EXPECT_EQ(message({{"kind", "bytes"}}),
            "make_tokenizer: kind: expected one of letters, words, characters, tokenizer.json, "
            "tokenizer.model, marian, got \"bytes\"");
  EXPECT_EQ(message({{"kind", "words"}}), "make_tokenizer: pieces: expected a value, got none");
  for (const char* pieces : {"5:abc", "abc", "1", "99999999999999999999999:a"}) {
    EXPECT_EQ(message({{"kind", "words"}, {"pieces", pieces}}),
              "make_tokenizer: pieces: expected a length, a colon and as many bytes for each piece, got \"" +
                  std::string(pieces) + "\"");
  }
}

}  // namespace
}  // namespace qkv::vocabulary_test
