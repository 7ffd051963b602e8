// What models write, fill in and read, as JSON.
#include <gmock/gmock.h>

#include "qkv/api/texts.h"
#include "qkv/api/tokens.h"
#include "qkv/train/trained_model.h"

namespace qkv::texts_figures_test {
namespace {

TEST(EmbedFigures, AreALineWithTheDigitsOfAFloat) {
  EmbedFigures figures{.text = "a\xff", .prompt = {}, .vector = {0.1F, -1, 1e-8F}, .cautions = {}};
  EXPECT_EQ(reply_as_line(figures), "{\"text\":\"a\xef\xbf\xbd\",\"vector\":[0.1,-1,1e-08]}\n");
  figures.prompt = "query: ";
  EXPECT_THAT(reply_as_line(figures), testing::HasSubstr("\",\"prompt\":\"query: \",\"vector\""));
}

TEST(GenerateFigures, AreALine) {
  const WrittenText written{.text = "b", .tokens = {7, 8}, .end = WriteEnd::stop};
  EXPECT_EQ(reply_as_line(generate_figures("a", written)),
            "{\"end\":\"stop\",\"prompt\":\"a\",\"text\":\"b\",\"tokens\":[7,8]}\n");
}

// 256 tokens are what its examples had.
TEST(GenerateFigures, SayWhatTheirReaderHasToKnow) {
  GenerateRequest request;
  request.model = "gpt";
  request.text = "the";
  for (int n = 1; n < 270; ++n) *request.text += " the";
  request.draw.most = 2;
  const FieldValues none;
  const auto figures = answer(request, Given(generate_fields().infos(), none));
  EXPECT_THAT(figures.at(0).cautions,
              testing::ElementsAre("it learned from texts of at most 256 tokens; this one has 270",
                                   "it reads at most 256 tokens at once: the end was written without the first 15"));
}

TEST(TextFigures, NamePieces) {
  const TrainedModel english = TrainedModel::read(trained_model_path("english"));
  const Tokenizer& pieces = english.tokenizer();
  const std::vector<FilledMask> masks = {{.place = 2, .fillings = {{.token = 5, .probability = 0.5}}}};
  const FillFigures filled = fill_figures("the <be>", masks, pieces);
  EXPECT_EQ(filled.masks.at(0).fillings.at(0).piece, pieces.piece(5));
  const Encoding encoding{
      .ids = {5}, .offsets = {{.begin = 0, .end = 3}}, .types = {0}, .sources = {TokenSource::text}};
  EXPECT_EQ(reply_as_line(tokens_figures(encoding, pieces)), "{\"ids\":[5],\"offsets\":[[0,3]],\"pieces\":[\"" +
                                                                 pieces.piece(5) +
                                                                 "\"],\"sources\":[\"text\"],\"types\":[0]}\n");
}

}  // namespace
}  // namespace qkv::texts_figures_test
