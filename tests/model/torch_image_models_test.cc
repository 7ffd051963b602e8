// Models of images and text, and PyTorch's on the same numbers (fixtures/make_torch_image_models.py made them).
#include <gmock/gmock.h>

#include "model/torch_case.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/captioner.h"
#include "qkv/model/two_tower.h"

namespace qkv::torch_image_models_test {
namespace {

using nlohmann::json;

constexpr const char* kFile = "torch_image_models.json";

struct ImagesAndIds {
  Tensor images;
  Tensor ids;

  explicit ImagesAndIds(const json& one)
      : images(images_of(one.at("inputs").at("images"))), ids(tests::ids_in(one.at("inputs").at("ids"))) {}

  static Tensor images_of(const std::vector<float>& pixels) {
    return {pixels, {std::ssize(pixels) / (3 * 4 * 4), 3, 4, 4}};
  }
};

tests::TorchModel made(const json& one, DType dtype) {
  const auto config = tests::config_in(one);
  const ImagesAndIds inputs(one);
  const ModelCall call{.dtype = dtype};
  Generator generator(1);
  if (config.at("kind") == "captioner") {
    const Captioner model(captioner_options(config), generator, dtype);
    const Tensor targets = tests::ids_in(one.at("inputs").at("targets"));
    return {.parameters = model.parameters(),
            .loss = [=] { return cross_entropy(model.forward(inputs.images, inputs.ids, call), targets); }};
  }
  const TwoTower model(two_tower_options(config), generator, dtype);
  const std::vector<std::int64_t> lengths = one.at("inputs").at("lengths");
  return {.parameters = model.parameters(),
          .loss = [=] { return model.loss(inputs.images, {.ids = inputs.ids, .lengths = lengths}, call); }};
}

TEST(TorchImageModels, LossesGradientsAndTenStepsAgree) {
  const json cases = tests::torch_cases(kFile);
  ASSERT_EQ(cases.size(), 4U);
  for (const json& one : cases) tests::expect_as_torch(one, made(one, DType::f64));
}

TEST(TorchImageModels, GradientsInF32AreAsNearAsPyTorchs) {
  for (const json& one : tests::torch_cases(kFile)) {
    tests::expect_as_near_as_torch(one, [&](DType dtype) { return made(one, dtype); });
  }
}

}  // namespace
}  // namespace qkv::torch_image_models_test
