// A picture that a model reads alone, as an explanation.
#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "model/image_folder.h"
#include "qkv/explain/model.h"
#include "qkv/insight/texts.h"

namespace qkv::image_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using tests::ImageFolder;

const Section& step(const Explanation& explanation, std::string_view id) {
  const auto found = std::ranges::find(explanation.steps, id, &Section::id);
  if (found == explanation.steps.end()) throw Error("no step " + std::string(id));
  return *found;
}

Tensor picture() { return Generator(5).randint(0, 256, {13, 11, 3}).to(DType::u8); }

TEST(ExplainImage, SaysItsClassesAndShowsTheClassToken) {
  const ImageFolder folder("dinov2");
  const TextModel model(Model::open(folder.path()), folder.path());
  const Tensor shown = picture();
  const Explanation explanation = explain_model(model, {.title = "m", .picture = shown, .layer = 1, .head = 2});
  EXPECT_THAT(explanation.notes, Contains("the positions of 3 × 3 patches were resized to 2 × 2"));
  const Table& classes = step(explanation, "classes").tables.front();
  ASSERT_EQ(classes.rows.size(), 2U);
  const Tensor image = model.image_of(shown).reshape({1, 3, 8, 8});
  const std::vector<double> scores = model.model().result({.ids = {}, .images = image}).value().to_vector();
  const std::size_t best = scores[0] > scores[1] ? 0 : 1;
  EXPECT_EQ(classes.rows[0].at(1).text, best == 0 ? "cat" : "dog");
  EXPECT_NEAR(classes.rows[0].at(2).number.value(), scores[best], 1e-5);
  EXPECT_NEAR(classes.rows[0].at(3).number.value(), 1 / (1 + std::exp(scores[1 - best] - scores[best])), 1e-5);
  EXPECT_THAT(explanation.notes, Contains(HasSubstr(best == 0 ? "says: cat" : "says: dog")));
  const std::vector<Tensor> weights = model.model().weights({.ids = {}, .images = image}, AttentionSite::source);
  const Section& looks = step(explanation, "class-token");
  ASSERT_EQ(looks.images.size(), 3U);
  for (std::int64_t patch = 0; patch < 4; ++patch) {
    EXPECT_NEAR(looks.images[2].weights.at({patch / 2, patch % 2}), weights[1].at({0, 2, 0, 1 + patch}), 1e-6);
  }
  EXPECT_EQ(step(explanation, "image").images.size(), 5U);
  EXPECT_EQ(step(explanation, "head").heatmaps.front().heatmap.column_labels.front(), "[class]");
  EXPECT_EQ(step(explanation, "final-norm").heatmaps.front().heatmap.values.shape(), (Shape{5, 12}));
}

TEST(ExplainImage, OfStatesAloneSaysNoClass) {
  const ImageFolder folder("vit", R"("architectures": ["ViTModel"])");
  const TextModel model(Model::open(folder.path()), folder.path());
  const Tensor shown = picture();
  const Explanation explanation = explain_model(model, {.title = "m", .picture = shown});
  EXPECT_THAT(explanation.notes, testing::ElementsAre("a model of states alone: it tells no classes apart"));
  EXPECT_THROW(static_cast<void>(step(explanation, "classes")), Error);
}

TEST(ExplainImage, NamesWhatItDoesNotRead) {
  const ImageFolder folder("vit");
  const TextModel model(Model::open(folder.path()), folder.path());
  const auto said = [&](const ModelQuestion& question) {
    return error_message([&] { static_cast<void>(explain_model(model, question)); });
  };
  const Tensor shown = picture();
  EXPECT_EQ(said({.title = "m", .text = "a"}), "explain_model: text: expected a picture, got a text");
  EXPECT_EQ(said({.title = "m", .text = "a", .picture = shown}),
            "explain_model: picture: expected none beside a text, got a picture");
  EXPECT_EQ(said({.title = "m", .picture = shown, .captions = {"a"}}),
            "explain_model: captions: expected a two-tower model, got one of kind image-encoder");
  EXPECT_EQ(said({.title = "m", .picture = shown, .answer = 2}),
            "explain_model: answer: expected a model that writes, got one of kind image-encoder");
  const std::vector<std::string> texts = {"a"};
  EXPECT_EQ(error_message([&] { static_cast<void>(head_texts(model, texts)); }),
            "head_texts: texts: expected none of a model that reads images, got image-encoder and 1 text");
}

}  // namespace
}  // namespace qkv::image_test
