#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error_message.h"
#include "qkv/random.h"

namespace qkv::generator_test {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;

const json& fixture() {
  static const json parsed = [] {
    std::ifstream file(QKV_SOURCE_DIR "/tests/core/fixtures/torch_random.json");
    return json::parse(file);
  }();
  return parsed;
}

DType real_dtype(const json& call) { return call.at("dtype") == "f64" ? DType::f64 : DType::f32; }

Shape shape_of(const json& call) {
  const auto extents = call.at("shape").get<std::vector<std::int64_t>>();
  return Shape(std::span(extents));
}

Tensor bernoulli_each(Generator& generator, const json& call) {
  const auto p = call.at("p").get<std::vector<double>>();
  return generator.bernoulli(Tensor(p, {static_cast<std::int64_t>(p.size())}).to(real_dtype(call)));
}

Tensor answer(Generator& generator, const json& call) {
  const auto name = call.at("call").get<std::string>();
  if (name == "randn") return generator.randn(shape_of(call), real_dtype(call));
  if (name == "rand") return generator.rand(shape_of(call), real_dtype(call));
  if (name == "randint") return generator.randint(call.at("low"), call.at("high"), shape_of(call));
  if (name == "randperm") return generator.randperm(call.at("n"));
  if (name == "bernoulli") return generator.bernoulli(call.at("p"), shape_of(call), real_dtype(call));
  if (name == "bernoulli_each") return bernoulli_each(generator, call);
  throw std::runtime_error("the fixture has an unknown call: " + name);
}

// The transcendental functions of two libraries may differ in the last place; everything else is exact.
void expect_same(const Tensor& got, const json& call) {
  if (got.dtype() == DType::i64) {
    EXPECT_THAT(got.values<std::int64_t>(), ElementsAreArray(call.at("values").get<std::vector<std::int64_t>>()));
    return;
  }
  const auto wanted = call.at("values").get<std::vector<double>>();
  const double tolerance = call.at("call") == "randn" ? 1e-6 : 0;
  EXPECT_THAT(got.to_vector(), testing::Pointwise(testing::DoubleNear(tolerance), wanted));
}

class AsTorch : public testing::TestWithParam<json> {};

TEST_P(AsTorch, GivesTheSameNumbers) {
  Generator generator(GetParam().at("seed").get<std::uint64_t>());
  for (const json& call : GetParam().at("calls")) {
    SCOPED_TRACE(call.dump().substr(0, 100));
    expect_same(answer(generator, call), call);
  }
}

INSTANTIATE_TEST_SUITE_P(Generator, AsTorch, testing::ValuesIn(fixture().at("sequences")), [](const auto& sequence) {
  return sequence.param.at("name").template get<std::string>() + "_seed_" + sequence.param.at("seed").dump();
});

TEST(Generator, FixtureIsOfTheVersionThatTheDocsName) {
  EXPECT_EQ(fixture().at("torch").get<std::string>().substr(0, 6), "2.13.0");
}

TEST(Generator, MovesItsPlaceInTheStream) {
  Generator one(7);
  Generator two(7);
  (void)one.randn({3});
  (void)two.randn({3});
  Generator moved = std::move(one);
  EXPECT_EQ(moved.randn({3}).to_vector(), two.randn({3}).to_vector());
}

TEST(Generator, PermutesEveryNumberOnce) {
  std::vector<double> order = Generator(3).randperm(1000).to_vector();
  EXPECT_FALSE(std::ranges::is_sorted(order));
  std::ranges::sort(order);
  std::vector<double> wanted(1000);
  std::iota(wanted.begin(), wanted.end(), 0.0);
  EXPECT_EQ(order, wanted);
}

TEST(Generator, RefusesWhatHasNoMeaning) {
  Generator g(0);
  EXPECT_EQ(error_message([&] { (void)g.randn({2}, DType::f16); }),
            "Generator::randn: dtype: expected f32 or f64, got f16");
  EXPECT_EQ(error_message([&] { (void)g.rand({2}, DType::i64); }),
            "Generator::rand: dtype: expected f32 or f64, got i64");
  EXPECT_EQ(error_message([&] { (void)g.rand({2, -1}); }), "Dims: shape: expected extents of 0 or more, got [2, -1]");
  EXPECT_EQ(error_message([&] { (void)g.randint(3, 3, {1}); }),
            "Generator::randint: high: expected more than low, which is 3, got 3");
  EXPECT_EQ(error_message([&] { (void)g.randperm(-1); }), "Generator::randperm: n: expected 0 or more, got -1");
  EXPECT_EQ(error_message([&] { (void)g.bernoulli(1.5, {1}); }),
            "Generator::bernoulli: p: expected a probability from 0 to 1, got 1.5");
  EXPECT_EQ(error_message([&] { (void)g.bernoulli(std::nan(""), {1}); }),
            "Generator::bernoulli: p: expected a probability from 0 to 1, got nan");
  EXPECT_EQ(error_message([&] { (void)g.bernoulli(Tensor(std::vector<float>{0.5F, -1.0F}, {2})); }),
            "Generator::bernoulli: p: expected a probability from 0 to 1, got -1");
  EXPECT_EQ(error_message([&] { (void)g.bernoulli(0.5, {1}, DType::u8); }),
            "Generator::bernoulli: dtype: expected f32 or f64, got u8");
}

TEST(Generator, ARefusedCallDrawsNothing) {
  Generator refused(5);
  (void)error_message([&] { (void)refused.bernoulli(Tensor(std::vector<float>{0.5F, 2.0F}, {2})); });
  EXPECT_EQ(refused.rand({4}).to_vector(), Generator(5).rand({4}).to_vector());
}

}  // namespace
}  // namespace qkv::generator_test
