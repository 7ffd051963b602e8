// Small folders as others publish models, and what `transformers` makes of them (make_published_models.py).
#include <gmock/gmock.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "files/temporary_directory.h"
#include "model/published_fixture.h"
#include "qkv/files.h"
#include "qkv/model/model.h"
#include "qkv/safetensors.h"

namespace qkv::published_models_test {
namespace {

using Json = nlohmann::json;

const Json& published() {
  static const Json kAll = tests::published_fixture("published_models.json");
  return kAll;
}

// The k-th tensor in the order of names, as the script has it.
Tensor drawn(std::uint64_t k, const Shape& shape, double scale) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  Tensor tensor(DType::f32, shape);
  for (float& value : tensor.values<float>()) {
    k = (1103515245 * k + 12345) % kMost;
    value = static_cast<float>(scale * (2 * static_cast<double>(k) / static_cast<double>(kMost) - 1));
  }
  return tensor;
}

class PublishedModel : public testing::TestWithParam<std::string> {
 protected:
  PublishedModel() {
    write_file(directory_ / "config.json", entry().at("config").dump());
    if (entry().contains("generation")) {
      write_file(directory_ / "generation_config.json", entry().at("generation").dump());
    }
    std::vector<Tensor> values;
    std::vector<std::string> stored;
    for (const auto& [name, shape] : entry().at("tensors").items()) {
      values.push_back(
          drawn(values.size(), Shape(shape.get<std::vector<std::int64_t>>()), entry().at("scale").get<double>()));
      stored.push_back(name);
    }
    std::vector<NamedView> views;
    for (std::size_t n = 0; n < values.size(); ++n) views.push_back({stored[n], values[n]});
    write_file(directory_ / "model.safetensors", encode_safetensors(views));
  }

  [[nodiscard]] const Json& entry() const { return published().at(GetParam()); }
  [[nodiscard]] Tensor ids() const {
    const auto tokens = entry().at("ids").get<std::vector<std::int64_t>>();
    return {tokens, {1, std::ssize(tokens)}};
  }
  void expect_answer(const Model& model) const {
    if (entry().contains("tokens")) {
      const Tensor source = ids();
      const auto wanted = entry().at("tokens").get<std::vector<std::int64_t>>();
      EXPECT_EQ(model.generate({.ids = {}, .source = source}, {.most = std::ssize(wanted)}).front(), wanted);
      return;
    }
    const Tensor tokens = ids();
    const auto wanted = entry().at("logits").get<std::vector<double>>();
    EXPECT_THAT(model.forward({.ids = tokens}).value().to_vector(),
                testing::Pointwise(testing::DoubleNear(2e-5), wanted));
  }

  tests::TemporaryDirectory directory_;
};

TEST_P(PublishedModel, AnswersAsThatOfTransformers) {
  const Model model = Model::open(directory_ / "");
  expect_answer(model);
  model.save(directory_ / "own.safetensors");
  expect_answer(Model::open(directory_ / "own.safetensors"));
}

INSTANTIATE_TEST_SUITE_P(All, PublishedModel, testing::ValuesIn(tests::names_of(published())),
                         [](const auto& one) { return tests::test_name(one.param); });

}  // namespace
}  // namespace qkv::published_models_test
