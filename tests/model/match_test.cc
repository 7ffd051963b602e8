// Pictures against texts, by towers of the box and by folders of others.
#include "qkv/model/match.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "core/error_message.h"
#include "model/tower_folder.h"
#include "qkv/model/embed.h"
#include "train/boxed.h"

namespace qkv::match_test {
namespace {

using testing::HasSubstr;
using tests::TowerFolder;

TextModel opened(const TowerFolder& folder) { return {Model::open(folder.path()), folder.path()}; }
using tests::boxed;

// A picture of the example's pixels.
Tensor picture_of(const Example& example) {
  const std::int64_t side = example.image.dim(1);
  Tensor picture(DType::u8, {side, side, 3});
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) picture.set({y, x, c}, std::round(255 * example.image.at({c, y, x})));
    }
  }
  return picture;
}

Tensor noise(std::int64_t height, std::int64_t width) {
  return Generator(5).randint(0, 256, {height, width, 3}).to(DType::u8);
}

double norm(const TensorView& row) {
  const std::vector<double> values = row.to_vector();
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

TEST(MatchPairs, OfTheBoxFindsTheCaptionOfEachPicture) {
  const TrainedModel& towers = boxed("towers");
  std::vector<Tensor> pictures;
  std::vector<std::string> captions;
  std::vector<Example> examples;
  for (std::int64_t n = 0; n < 5; ++n) {
    examples.push_back(towers.task().example(Split::test, n));
    pictures.push_back(picture_of(examples.back()));
    examples.back().image = towers.image_of(pictures.back());  // of 8 bits
    std::string text = towers.task().vocabulary().decode(examples.back().tokens);
    captions.push_back(text.substr(std::string("<s> ").size()));
  }
  const PairMatch match = match_pairs(towers, pictures, captions);
  const std::vector<double> together = towers.cosines(examples).to_vector();
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(match.cosines.at({i, i}), together[static_cast<std::size_t>(i)], 1e-6);
    const std::vector<double> row = match.probabilities.view().select(0, i).to_vector();
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), i);
    EXPECT_NEAR(norm(match.images.view().select(0, i)), 1, 1e-5);
    EXPECT_NEAR(norm(match.texts.view().select(0, i)), 1, 1e-5);
  }
}

TEST(MatchPairs, OfClipIsTheSoftmaxOfItsScaledCosines) {
  const TowerFolder folder("clip");
  const TextModel clip = opened(folder);
  const std::vector<Tensor> pictures = {noise(8, 8), noise(20, 11)};
  const std::vector<std::string> texts = {"a red circle", "blue square", "circle"};
  const PairMatch match = match_pairs(clip, pictures, texts);
  const auto& towers = std::get<TwoTower>(clip.model().network());
  const NoGradient constant;
  const Tensor image = prepare_image(pictures[1], read_image_preparation(folder.path()));
  const Tensor ids(clip.model().tokenizers().tokens->encode(texts[0]).ids, {1, 5});
  const Variable score = towers.scores(towers.embed_images(image), towers.embed_texts({.ids = ids}));
  EXPECT_NEAR(match.scores.at({1, 0}), score.item(), 1e-5);
  double sum = 0;
  for (std::int64_t n = 0; n < 3; ++n) sum += std::exp(match.scores.at({1, n}));
  EXPECT_NEAR(match.probabilities.at({1, 0}), std::exp(match.scores.at({1, 0})) / sum, 1e-12);
  const Tensor colours = clip.colours_of(clip.image_of(pictures[0]));
  EXPECT_NEAR(colours.at({1, 3, 5}), pictures[0].at({3, 5, 1}) / 255, 1e-6);
}

TEST(MatchPairs, OfSiglipPadsTextsAndTakesEachPairByItself) {
  const TowerFolder folder("siglip");
  folder.put("special_tokens_map.json", R"({"pad_token": {"content": "<pad>"}})");
  const TextModel siglip = opened(folder);
  EXPECT_EQ(siglip.example_of("red circle").tokens, (std::vector<std::int32_t>{4, 5, 1, 8, 8, 8, 8, 8, 8}));
  const std::vector<std::string> texts = {"red circle", "a blue square"};
  // From a second pass on, the weights are laid out, whose products may be rounded otherwise.
  static_cast<void>(embed_texts(siglip.model(), texts));
  const PairMatch match = match_pairs(siglip, std::vector<Tensor>{noise(9, 9)}, texts);
  const auto& towers = std::get<TwoTower>(siglip.model().network());
  const NoGradient constant;
  const Tensor ids(std::vector<std::int64_t>{4, 5, 1, 8, 8, 8, 8, 8, 8}, {1, 9});
  const Tensor image = prepare_image(noise(9, 9), read_image_preparation(folder.path()));
  const Variable score = towers.scores(towers.embed_images(image), towers.embed_texts({.ids = ids}));
  EXPECT_NEAR(match.scores.at({0, 0}), score.item(), 1e-5);
  for (std::int64_t n = 0; n < 2; ++n) {
    EXPECT_NEAR(match.probabilities.at({0, n}), 1 / (1 + std::exp(-match.scores.at({0, n}))), 1e-12);
  }
  const std::vector<double> alone = embed_texts(siglip.model(), texts).to_vector();
  EXPECT_EQ(alone, match.texts.to_vector());
}

TEST(MatchPairs, NamesWhatItCannotRead) {
  const TowerFolder folder("siglip");
  const TextModel siglip = opened(folder);
  const auto said = [](const TextModel& model, const std::vector<Tensor>& pictures,
                       const std::vector<std::string>& texts) {
    return error_message([&] { static_cast<void>(match_pairs(model, pictures, texts)); });
  };
  EXPECT_EQ(said(siglip, {noise(4, 4)}, {"red", "a a a a a a a a a a"}),
            "match_pairs: texts[1]: expected at most 9 tokens, got 11");
  EXPECT_EQ(said(siglip, {noise(4, 4), Tensor(DType::u8, {2, 2})}, {"red"}),
            "match_pairs: pictures[1]: expected u8 [H, W, 3] with a pixel, got u8 [2, 2]");
  EXPECT_EQ(said(boxed("shapes"), {noise(4, 4)}, {"red"}),
            "match_pairs: model: expected a two-tower model, got one of kind captioner");
  EXPECT_EQ(said(boxed("towers"), {}, {"a pink cat"}),
            "match_pairs: texts[0]: expected a piece of the vocabulary, got \"pink\"");
}

TEST(TextModel, OfAFileOfOthersDoesNotKnowHowPicturesArePrepared) {
  const TowerFolder folder("clip");
  const std::string path = folder / "own.safetensors";
  Model::open(folder.path()).save(path);
  const TextModel saved(Model::open(path), path);
  EXPECT_THAT(error_message<Error>([&] { static_cast<void>(saved.image_of(noise(8, 8))); }),
              HasSubstr("own.safetensors: a file does not say how its pictures are prepared: give the folder"));
  EXPECT_EQ(error_message([] { static_cast<void>(boxed("copy").image_of(noise(8, 8))); }),
            "TextModel: picture: expected a model that reads images, got one of kind encoder-decoder");
}

}  // namespace
}  // namespace qkv::match_test
