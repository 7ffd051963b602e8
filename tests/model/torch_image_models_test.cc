// A captioner and two towers against PyTorch (fixtures/make_torch_image_models.py made the numbers).
#include <gmock/gmock.h>

#include "model/torch_fixture.h"
#include "qkv/autograd/softmax.h"
#include "qkv/model/captioner.h"
#include "qkv/model/two_tower.h"

namespace qkv::learn {
namespace {

constexpr const char* kFile = "torch_image_models.json";

Tensor images_of(const nlohmann::json& fixture) {
  const std::vector<float> pixels = fixture.at("inputs").at("images");
  return {pixels, {std::ssize(pixels) / (3 * 4 * 4), 3, 4, 4}};
}

TEST(Torch, AgreesOnACaptioner) {
  const nlohmann::json fixture = tests::torch_case(kFile, "captioner");
  Generator generator(1);
  const Captioner captioner(captioner_options(tests::torch_options(fixture)), generator, DType::f64);
  const Tensor images = images_of(fixture);
  const Tensor ids = tests::torch_ids(fixture, "ids", {3, 5});
  const Tensor targets = tests::torch_ids(fixture, "targets", {3, 5});
  tests::expect_as_torch(fixture, captioner.parameters(),
                         [&] { return cross_entropy(captioner.forward(images, ids, {.dtype = DType::f64}), targets); });
}

TEST(Torch, AgreesOnTwoTowers) {
  const nlohmann::json fixture = tests::torch_case(kFile, "two-tower");
  Generator generator(1);
  const TwoTower towers(two_tower_options(tests::torch_options(fixture)), generator, DType::f64);
  const Tensor images = images_of(fixture);
  const Tensor ids = tests::torch_ids(fixture, "ids", {4, 5});
  const PaddedTokens texts{.ids = ids, .lengths = fixture.at("inputs").at("lengths")};
  tests::expect_as_torch(fixture, towers.parameters(),
                         [&] { return towers.loss(images, texts, {.dtype = DType::f64}); });
}

}  // namespace
}  // namespace qkv::learn
