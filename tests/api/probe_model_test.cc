// A probe of a model: the very attention that ran, by a request.
#include <gmock/gmock.h>

#include <cmath>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "model/tower_folder.h"
#include "qkv/api/probe.h"
#include "qkv/autograd/softmax.h"
#include "qkv/files.h"
#include "qkv/nn/trace.h"
#include "qkv/png.h"
#include "qkv/train/trained_model.h"

namespace qkv::probe_model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tests::TemporaryDirectory;

ProbeRequest of_model(const std::string& model, const std::string& text) {
  ProbeRequest request;
  request.model = model;
  request.text = text;
  return request;
}

ProbeReply reply_of(const ProbeRequest& request) {
  return probe(request, load_probe_inputs(request, probe_choice(request)));
}

std::string refused(const ProbeRequest& request) {
  return error_message([&] { (void)load_probe_inputs(request, probe_choice(request)); });
}

TEST(ProbeModel, ShowsTheWeightsThatRan) {
  ProbeRequest request = of_model("gpt", "The cat sat down because it was tired");
  request.layer = 2;
  request.head = "3";
  request.tile = "0:8,0:8";
  const TrainedModel trained = TrainedModel::read(trained_model_path("gpt"));
  const Batch batch = trained.batch_of(trained.example_of(request.text));
  Trace trace({"blocks.2.attn"});
  trained.model().run(input_of(batch), trace);
  const Tensor ran(trace["blocks.2.attn.weights"].view().select(0, 0).select(0, 3));
  const ProbeReply reply = reply_of(request);
  EXPECT_EQ(reply.heads.front().tile->to_vector(), ran.to_vector());
}

TEST(ProbeModel, NamesTheTokens) {
  ProbeRequest request = of_model("translation", "the dog sleeps");
  request.row = 0;
  const ProbeInputs inputs = load_probe_inputs(request, probe_choice(request));
  EXPECT_EQ(inputs.model, "translation, decoder.blocks.0.cross");
  EXPECT_THAT(inputs.keys, ElementsAre("the", "dog", "sleeps", "</s>"));
  EXPECT_EQ(inputs.queries.front(), "<s>");
  EXPECT_THAT(as_text(request, inputs, probe(request, inputs), 80), HasSubstr("head 0, query 0, <s>"));
  request.site = "source";
  EXPECT_EQ(load_probe_inputs(request, probe_choice(request)).queries.back(), "</s>");
  ProbeRequest image;
  image.model = "shapes";
  image.example = 0;
  image.row = 0;
  EXPECT_EQ(load_probe_inputs(image, probe_choice(image)).keys.at(35), "35");
}

// The mean cross entropy of each next token, in f64, with one score of head 1.2 moved.
double moved_loss(const Model& exact, const Batch& batch, std::int64_t j, double step) {
  const NoGradient constant;
  const std::int64_t length = batch.ids.dim(1);
  Tensor targets = batch.targets;
  for (std::int64_t n = 0; n + 1 < length; ++n) {
    targets.values<std::int64_t>()[static_cast<std::size_t>(n)] =
        batch.ids.values<std::int64_t>()[static_cast<std::size_t>(n + 1)];
  }
  Trace trace(std::vector<std::string>{});
  trace.edit_heads("blocks.1.attn.masked", {2}, [&](const Variable& scores) {
    Tensor moved(scores.value());
    moved.values<double>()[static_cast<std::size_t>(2 * length + j)] += step;
    return Variable(std::move(moved));
  });
  return cross_entropy(exact.forward(input_of(batch), {.trace = &trace}), targets).item();
}

TEST(ProbeModel, HasTheGradientOfEachNextToken) {
  ProbeRequest request = of_model("gpt", "The cat sat down");
  request.layer = 1;
  request.head = "2";
  request.stage = "ds";
  request.row = 2;
  const std::vector<double> slopes = reply_of(request).heads.front().row->to_vector();
  const TrainedModel trained = TrainedModel::read(trained_model_path("gpt"));
  const Model exact = trained.model().to(DType::f64);
  const Batch batch = trained.batch_of(trained.example_of(request.text));
  ASSERT_EQ(batch.ids.dim(1), 4);
  constexpr double kStep = 1e-3;
  double largest = 0;
  for (std::int64_t j = 0; j < 3; ++j) {
    const double slope = (moved_loss(exact, batch, j, kStep) - moved_loss(exact, batch, j, -kStep)) / (2 * kStep);
    EXPECT_NEAR(slopes[static_cast<std::size_t>(j)], slope, 1e-5);
    largest = std::max(largest, std::fabs(slope));
  }
  EXPECT_GT(largest, 1e-4);
  EXPECT_EQ(slopes[3], 0) << "hidden";
}

TEST(ProbeModel, ReadsALongTextAndAnExample) {
  const TemporaryDirectory directory;
  std::string text;
  for (int n = 0; n < 60; ++n) text += "the cat sat on the mat. ";
  write_file(directory / "long.txt", text);
  ProbeRequest request;
  request.model = "gpt";
  request.file = directory / "long.txt";
  request.map = "8";
  request.head = "all";
  EXPECT_EQ(reply_of(request).heads.size(), 8U);
  EXPECT_GT(reply_of(request).shape.Tq, 300);
  ProbeRequest example;
  example.model = "induction";
  example.example = 2;
  example.stage = "dp";
  example.map = "4";
  EXPECT_EQ(reply_of(example).heads.front().map->cells.dim(0), 4);
}

TEST(ProbeModel, RefusesWhatHasNoMeaning) {
  ProbeRequest request = of_model("gpt", "a b");
  request.row = 0;
  request.layer = 9;
  EXPECT_EQ(refused(request), "request: layer: expected a layer from 0 to 3, got 9");
  request.layer = 0;
  request.site = "cross";
  EXPECT_EQ(refused(request), "request: site: expected one that the model has: tokens, got \"cross\"");
  request.site = "";
  request.causal = true;
  EXPECT_EQ(refused(request), "request: causal: expected it without `model` (a model has its own), got both");
  request.causal = false;
  request.seed = 3;
  EXPECT_EQ(refused(request), "request: seed: expected it without `model` (a model has its own), got both");
  request.seed.reset();
  request.example = 1;
  EXPECT_EQ(refused(request), "request: example: expected it without `text` (a model reads one of them), got both");
  ProbeRequest nothing;
  nothing.model = "gpt";
  nothing.row = 0;
  EXPECT_EQ(refused(nothing),
            "request: model: expected `text`, `example`, `picture`, `sound`, `user`, `messages` or `file` beside it, got "
            "none of them");
  ProbeRequest pattern = of_model("translation", "the dog sleeps");
  pattern.stage = "ds";
  pattern.map = "2";
  EXPECT_THAT(refused(pattern), HasSubstr("request: stage: expected an example of the model's task, or a text of a "));
  ProbeRequest picture = of_model("shapes", "a");
  picture.row = 0;
  EXPECT_EQ(refused(picture), "explain_model: text: expected a picture, or an example, got a text");
  picture.text = "";
  picture.picture = "/nowhere.png";
  EXPECT_THAT(error_message<Error>([&] { (void)load_probe_inputs(picture, probe_choice(picture)); }),
              HasSubstr("/nowhere.png"));
}

// Either tower of a folder as others publish them, which reads alone.
TEST(ProbeModel, ReadsATextOrAPictureByTheirTowers) {
  const TemporaryDirectory directory;
  const std::string png = directory / "picture.png";
  write_file(png, encode_png(Tensor(DType::u8, {8, 8, 3})));
  for (const std::string type : {"clip", "siglip"}) {
    const tests::TowerFolder folder(type);
    ProbeRequest request = of_model(folder.path(), "a red circle");
    request.layer = 1;
    request.row = 1;
    const ProbeInputs text = load_probe_inputs(request, probe_choice(request));
    EXPECT_THAT(text.model, HasSubstr(", text.blocks.1.attn"));
    EXPECT_THAT(text.keys, testing::Contains("circle"));
    request.site = "source";
    EXPECT_EQ(refused(request), "request: site: expected one that the model has: tokens, got \"source\"");
    request.text.clear();
    request.picture = png;
    const ProbeInputs picture = load_probe_inputs(request, probe_choice(request));
    EXPECT_THAT(picture.model, HasSubstr(", image.blocks.1.attn"));
    EXPECT_EQ(picture.keys.size(), type == "clip" ? 5U : 4U);  // patches, and CLIP's class token
    request.head = "all";
    EXPECT_EQ(reply_of(request).heads.size(), 3U);
    request.stage = "ds";
    EXPECT_THAT(refused(request), HasSubstr("the loss of two towers is that of a picture and a text together"));
  }
}

}  // namespace
}  // namespace qkv::probe_model_test
