// A model out of its file, without a task.
#include "qkv/model/model.h"

#include <gmock/gmock.h>

#include "core/error_message.h"
#include "files/temporary_directory.h"
#include "qkv/nn/trace.h"
#include "qkv/text/vocabulary.h"
#include "qkv/train/optimizer.h"

namespace qkv::model_test {
namespace {

using testing::HasSubstr;
using tests::TemporaryDirectory;

DecoderOptions small() { return {.vocabulary = 4, .length = 6, .layers = 1, .d_model = 8, .heads = 2}; }

Model small_model(DType dtype = DType::f32) {
  Generator generator(2);
  return Model(
      Decoder(small(), generator, dtype),
      {.tokens = std::make_shared<Vocabulary>(std::vector<std::string>{"<pad>", "a", "b", "c"}, TextForm::letters)});
}

Tensor some_ids() { return Tensor(std::vector<std::int64_t>{1, 2, 3, 1}, {1, 4}); }

TEST(Model, ComesBackFromItsFile) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const Model model = small_model(dtype);
    model.save(path, {{"run.seed", "7"}});
    const Model again = Model::open(path);
    EXPECT_EQ(again.kind(), kind_of<Decoder>);
    EXPECT_EQ(again.config(), model.config());
    EXPECT_EQ(again.tokenizers().tokens->encode("abc").ids, (std::vector<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(again.tokenizers().source, nullptr);
    const ModelCall call{.dtype = again.dtype()};
    EXPECT_EQ(again.dtype(), dtype == DType::f64 ? DType::f64 : DType::f32);
    const Tensor ids = some_ids();
    EXPECT_EQ(again.forward({.ids = ids}, call).value().to_vector(),
              model.forward({.ids = ids}, call).value().to_vector())
        << name_of(dtype);
    EXPECT_EQ(again.parameters()[0].value.dtype(), dtype);
  }
}

TEST(Model, WritesItsFileAgainAsItWas) {
  const TemporaryDirectory directory;
  small_model().save(directory / "one.safetensors");
  Model::open(directory / "one.safetensors").save(directory / "two.safetensors");
  EXPECT_EQ(read_file(directory / "one.safetensors"), read_file(directory / "two.safetensors"));
}

TEST(Model, ReadsItsParametersWhereTheFileIsMapped) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  small_model().save(path);
  const Safetensors file = Safetensors::read(path);
  const Model model = Model::of_file(file, path);
  for (const Parameter& parameter : model.parameters()) {
    const Tensor mapped = file.load(parameter.name);
    EXPECT_EQ(parameter.value.value().data(), mapped.data()) << parameter.name;
  }
}

TEST(Model, OfANetworkOfFourKindsScoresTokensAndThreeWrite) {
  Generator generator(1);
  const Model encoder(Encoder({.vocabulary = 4, .layers = 1, .d_model = 8, .heads = 2}, generator));
  const Model towers(
      TwoTower({.image_side = 8, .patch_side = 4, .vocabulary = 4, .d_model = 8, .heads = 2}, generator));
  const Tensor ids = some_ids();
  EXPECT_EQ(encoder.forward({.ids = ids}).shape().to_string(), "[1, 4, 4]");
  EXPECT_EQ(error_message([&] { static_cast<void>(towers.forward({.ids = ids})); }),
            "Model::forward: model: expected one that scores tokens, got a model of kind two-tower");
  EXPECT_EQ(error_message([&] { static_cast<void>(encoder.generate({.ids = ids}, {})); }),
            "Model::generate: model: expected one that writes, got a model of kind encoder");
  EXPECT_THAT(small_model().generate({.ids = ids}, {.most = 2}), testing::ElementsAre(testing::SizeIs(2)));
}

TEST(Model, IsConvertedToBeLearned) {
  const Model half = small_model(DType::f16);
  const Model single = half.to(DType::f32);
  const Tensor ids = some_ids();
  EXPECT_EQ(single.parameters()[0].value.dtype(), DType::f32);
  for (std::size_t n = 0; n < half.parameters().size(); ++n) {
    const Parameter was = half.parameters()[n];
    EXPECT_EQ(single.parameters()[n].value.value().to_vector(), was.value.value().to_vector()) << was.name;
  }
  EXPECT_EQ(single.forward({.ids = ids}).shape().to_string(), "[1, 4, 4]");
  EXPECT_THAT(error_message([&] { static_cast<void>(make_sgd(half.parameters())); }),
              HasSubstr("expected f32 or f64, to which Model::to() converts, got embedding.weight of f16"));
  EXPECT_NO_THROW(static_cast<void>(make_sgd(single.parameters())));
}

TEST(Model, ShowsATraceItsWeights) {
  const Model model = small_model();
  const Tensor ids = some_ids();
  Trace trace({model.scope_of(AttentionSite::tokens)->name(0)});
  model.run({.ids = ids}, trace);
  EXPECT_EQ(trace["blocks.0.attn.weights"].to_vector(),
            model.weights({.ids = ids}, AttentionSite::tokens)[0].to_vector());
}

TEST(Model, RefusesAFileThatIsNone) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.safetensors";
  const auto message = [&](const std::vector<NamedView>& tensors, const std::map<std::string, std::string>& words) {
    write_file(path, encode_safetensors(tensors, words));
    return error_message<Error>([&] { static_cast<void>(Model::open(path)); });
  };
  EXPECT_EQ(message({}, {}), path + ": expected a model with its config, as qkv writes it, got tensors alone");
  EXPECT_EQ(message({}, {{"model.kind", "novel"}}),
            path +
                ": model_kind_named: model: expected one of decoder, encoder, "
                "encoder-decoder, captioner, two-tower, image-encoder, transcriber, "
                "got \"novel\"");
  EXPECT_EQ(message({}, {{"model.heads", "2"}}), path + ": Model: kind: expected a kind of model, got none");
  std::map<std::string, std::string> words = small_model().metadata();
  EXPECT_THAT(message({}, words), HasSubstr(": a checkpoint of another model: embedding.weight is not in it; "));
  words["model.d_model"] = "wide";
  EXPECT_THAT(message({}, words), HasSubstr("d_model: expected a whole number, got \"wide\""));
  words = small_model().metadata();
  words["tokenizer.kind"] = "bytes";
  EXPECT_THAT(message({}, words), HasSubstr(path + ": make_tokenizer: kind: expected one of letters, "));
  write_file(path, std::string_view("# a text, not a model"));
  EXPECT_EQ(error_message<Error>([&] { static_cast<void>(Model::open(path)); }),
            path + ": expected a file of safetensors or GGUF, or a folder with config.json, got another file");
}

}  // namespace
}  // namespace qkv::model_test
