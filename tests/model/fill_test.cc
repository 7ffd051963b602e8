#include "qkv/model/fill.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "qkv/text/vocabulary.h"
#include "train/boxed.h"

namespace qkv::fill_test {
namespace {

using tests::boxed;

TEST(FillGaps, AreThoseThatTheTaskAsksAbout) {
  const auto likeliest = [](const std::string& text) {
    const std::vector<FilledMask> masks = fill_gaps(boxed("english"), text, 3);
    EXPECT_EQ(masks.size(), 1U);
    EXPECT_EQ(masks.front().fillings.size(), 3U);
    return boxed("english").task().vocabulary().piece(masks.front().fillings.front().token);
  };
  EXPECT_EQ(likeliest("the cats that the girl sees <be> small"), "are");
  EXPECT_EQ(likeliest("the cat that the girls see <be> small"), "is");
}

TEST(FillGaps, AreTheMasksOfAModelOfOthers) {
  Generator generator(2);
  const Encoder encoder({.vocabulary = 4, .length = 8, .layers = 1, .d_model = 16, .heads = 2}, generator);
  const auto pieces =
      std::make_shared<const Vocabulary>(std::vector<std::string>{"<pad>", "<mask>", "the", "cat"}, TextForm::words);
  const TextModel model(Model(encoder, {.tokens = pieces}), "m.safetensors");
  EXPECT_EQ(fill_gaps(model, "the <mask>", 1).front().place, 1);
}

TEST(FillGaps, SayWhatAGapIs) {
  const auto message = [](const TextModel& model, const std::string& text) {
    return error_message([&] { static_cast<void>(fill_gaps(model, text, 3)); });
  };
  EXPECT_THAT(message(boxed("english"), "the cat"),
              testing::MatchesRegex("fill_gaps: text: expected a text with a gap, such as <.*>, got none"));
  EXPECT_EQ(message(boxed("sort"), "abc"),
            "fill_masks: model: expected an encoder that says tokens, got one of kind encoder-decoder");
}

}  // namespace
}  // namespace qkv::fill_test
