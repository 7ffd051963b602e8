// Every family as its authors' program computes it: hidden states and attention of each layer, logits, and the text
// that it writes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "files/temporary_directory.h"
#include "models/expected.h"
#include "models/models_folder.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/model.h"
#include "qkv/nn/trace.h"

namespace qkv::families_test {
namespace {

using tests::expect_site;
using tests::Inputs;
using tests::kNear;
using tests::largest_difference;

class Families : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) {
      GTEST_SKIP() << "no models in " << tests::models_folder() << ": make test-models makes them";
    }
  }

  [[nodiscard]] std::string folder() const { return tests::models_folder() / GetParam(); }
  [[nodiscard]] Safetensors expected() const { return Safetensors::read(folder() + "/expected.safetensors"); }
};

TEST_P(Families, HaveTheHiddenStatesAndAttentionOfEachLayer) {
  const Safetensors wanted = expected();
  const Model model = Model::open(folder());
  Trace trace({"*.resid_pre", "*.resid_post", "*ln_final", "*.attn.weights", "*.cross.weights", "*logits"});
  const Inputs inputs(wanted);
  model.run(inputs.all(), trace);
  const bool has_source = wanted.contains("source") || wanted.contains("sounds");
  const std::string logits = has_source ? "decoder.logits" : "logits";
  EXPECT_EQ(trace.contains(logits), wanted.contains("logits"));
  if (wanted.contains("logits")) {
    EXPECT_LT(largest_difference(trace[logits], wanted.load("logits")), kNear);
  }
  if (has_source) {
    expect_site(trace, wanted, {"decoder.", "hidden.", "weights."});
    expect_site(trace, wanted, {"encoder.", "source.hidden.", "source.weights."});
    expect_site(trace, wanted, {"decoder.", "", "cross.", "cross"});
  } else if (model.kind() == kind_of<TwoTower>) {
    for (const std::string tower : {"text.", "image."}) {
      expect_site(trace, wanted, {tower, tower + "hidden.", tower + "weights.", "attn", false});
    }
  } else {
    expect_site(trace, wanted, {"", "hidden.", "weights.", "attn", model.kind() != kind_of<ImageEncoder>});
  }
}

TEST_P(Families, EmbedImagesAndTextsAlike) {
  const Safetensors wanted = expected();
  if (!wanted.contains("image_embeddings")) GTEST_SKIP() << "it has one tower";
  const Model model = Model::open(folder());
  const auto& towers = std::get<TwoTower>(model.network());
  const Variable images = towers.embed_images(wanted.load("images"));
  const Tensor ids = wanted.load("ids");
  EXPECT_LT(largest_difference(images.value(), wanted.load("image_embeddings")), kNear);
  EXPECT_LT(largest_difference(towers.embed_texts({.ids = ids}).value(), wanted.load("text_embeddings")), kNear);
}

TEST_P(Families, TellTheSameClassesOfImages) {
  const Safetensors wanted = expected();
  const Model model = Model::open(folder());
  if (model.kind() != kind_of<ImageEncoder>) GTEST_SKIP() << "it does not read images alone";
  const auto& encoder = std::get<ImageEncoder>(model.network());
  const Tensor images = wanted.load("images");
  EXPECT_EQ(encoder.options().classes > 0, wanted.contains("class_scores"));
  EXPECT_EQ(encoder.options().patches.resized_positions, wanted.contains("other_images"));
  if (wanted.contains("last")) {
    EXPECT_LT(largest_difference(encoder.states(images).value(), wanted.load("last")), kNear);
  }
  if (wanted.contains("class_scores")) {
    EXPECT_LT(largest_difference(encoder.class_scores(images).value(), wanted.load("class_scores")), kNear);
  }
  if (!wanted.contains("other_images")) return;
  const Tensor others = wanted.load("other_images");
  Trace trace({"*.resid_pre", "*ln_final", "*.resid_post", "*.attn.weights", "classes"});
  model.run({.ids = {}, .images = others}, trace);
  expect_site(trace, wanted, {"", "other.hidden.", "other.weights.", "attn", false});
  if (wanted.contains("other.class_scores")) {
    EXPECT_LT(largest_difference(trace["classes"], wanted.load("other.class_scores")), kNear);
  }
}

TEST_P(Families, WriteTheSameText) {
  const Safetensors wanted = expected();
  if (!wanted.contains("greedy")) GTEST_SKIP() << "it writes no text";
  const Tensor greedy = wanted.load("greedy");
  const NewTokens written = Model::open(folder()).generate(Inputs(wanted).to_write_from(), {.most = greedy.dim(1)});
  std::vector<double> all;
  for (const auto& text : written) all.insert(all.end(), text.begin(), text.end());
  EXPECT_EQ(all, greedy.to_vector());
}

TEST_P(Families, FindTheSameBeams) {
  const Safetensors wanted = expected();
  if (!wanted.contains("beams")) GTEST_SKIP() << "it writes no text, or not in f32";
  const Tensor beams = wanted.load("beams");
  const GenerateOptions options{.ends = {7}, .most = beams.dim(1), .beams = 4};
  const NewTokens written = Model::open(folder()).generate(Inputs(wanted).to_write_from(), options);
  for (std::size_t b = 0; b < written.size(); ++b) {
    std::vector<double> text(written[b].begin(), written[b].end());
    text.resize(static_cast<std::size_t>(beams.dim(1)), -1);
    EXPECT_EQ(text, beams.view().select(0, static_cast<std::int64_t>(b)).to_vector()) << "text " << b;
  }
}

TEST_P(Families, HaveTheGradientOfEachParameter) {
  if (!std::filesystem::exists(folder() + "/gradients")) GTEST_SKIP() << "none were made of it";
  const Safetensors wanted = expected();
  const Model model = Model::open(folder());
  const Parameters gradients = Model::open(folder() + "/gradients").parameters();
  const Inputs inputs(wanted);
  if (const auto* towers = std::get_if<TwoTower>(&model.network())) {
    backward(towers->loss(inputs.all().images, {.ids = inputs.all().ids}));
  } else if (model.kind() == kind_of<ImageEncoder>) {
    const Tensor images = wanted.load(wanted.contains("other_images") ? "other_images" : "images");
    backward(model.loss({.ids = {}, .images = images}, wanted.load("classes")));
  } else {
    backward(cross_entropy(model.forward(inputs.all()), wanted.load("targets")));
  }
  const auto largest = [](const TensorView& values) {
    double most = 0;
    for (const double value : values.to_vector()) most = std::max(most, std::fabs(value));
    return most;
  };
  double most = 0;
  for (const Parameter& gradient : gradients) most = std::max(most, largest(gradient.value.value()));
  const Parameters parameters = model.parameters();
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const TensorView gradient = gradients[n].value.value();
    const bool may_be_unread =
        parameters[n].name.find(".experts.") != std::string::npos || parameters[n].name.ends_with(".correction");
    if (may_be_unread && !parameters[n].value.has_gradient()) {
      EXPECT_EQ(largest(gradient), 0) << parameters[n].name << ": no token chose it, or it chooses";
      continue;
    }
    // Without rotary positions a bias of keys has the gradient 0: it shifts all scores of a query alike.
    const double bound = kNear * std::max(largest(gradient), 1e-2 * most);
    EXPECT_LT(largest_difference(parameters[n].value.gradient(), gradient), bound) << parameters[n].name;
  }
}

TEST_P(Families, CutTheTextAlike) {
  const Safetensors wanted = expected();
  const auto text = wanted.metadata().find("text");
  if (text == wanted.metadata().end()) GTEST_SKIP() << "it has no tokenizer";
  const Model model = Model::open(folder());
  const std::vector<std::int32_t> ids = model.tokenizers().tokens->encode(text->second).ids;
  EXPECT_EQ(std::vector<double>(ids.begin(), ids.end()), wanted.load("ids").to_vector());
  const auto source = wanted.metadata().find("source_text");
  EXPECT_EQ(source != wanted.metadata().end(), model.tokenizers().source != nullptr);
  if (source == wanted.metadata().end()) return;
  const std::vector<std::int32_t> read = model.tokenizers().source->encode(source->second).ids;
  EXPECT_EQ(std::vector<double>(read.begin(), read.end()), wanted.load("source").to_vector());
}

TEST_P(Families, ComeBackFromAFileOfOurs) {
  const Model model = Model::open(folder());
  const tests::TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  model.save(path);
  const Model again = Model::open(path);
  const Inputs inputs(expected());
  EXPECT_EQ(again.config(), model.config());
  EXPECT_EQ(again.tokenizers().classes, model.tokenizers().classes);
  Trace left({"*.resid_post", "*logits", "classes"});
  Trace right({"*.resid_post", "*logits", "classes"});
  model.run(inputs.all(), left);
  again.run(inputs.all(), right);
  ASSERT_EQ(left.names(), right.names());
  for (const std::string& name : left.names()) EXPECT_EQ(left[name].to_vector(), right[name].to_vector()) << name;
}

std::vector<std::string> made_or_none() {
  const std::vector<std::string> made = tests::made_models();
  return made.empty() ? std::vector<std::string>{""} : made;
}

INSTANTIATE_TEST_SUITE_P(Made, Families, testing::ValuesIn(made_or_none()), [](const auto& one) {
  std::string name = one.param.empty() ? "none" : one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace qkv::families_test
