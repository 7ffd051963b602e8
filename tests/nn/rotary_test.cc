#include "oracle/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>  // before rapidcheck's, which expects it
#include <rapidcheck/gtest.h>

#include "nn/fixture.h"
#include "nn/shared_rotary.h"
#include "qkv/nn/position.h"

namespace qkv::nn::rotary_test {
namespace {

Tensor turned(const Tensor& x, const RotaryTables& tables) { return Tensor(rotary(Variable(x), tables).value()); }

template <class T>
std::optional<T> maybe(const Json& json, const char* name) {
  return json.contains(name) ? std::optional<T>(json.at(name).get<T>()) : std::nullopt;
}

RotaryScaling scaling_of(const Json& json) {
  const auto kind = json.at("scaling").get<std::string>();
  if (kind == "linear") return LinearScaling{.factor = json.at("factor")};
  if (kind == "ntk") return NtkScaling{.factor = json.at("factor")};
  if (kind == "yarn") {
    return YarnScaling{.factor = json.at("factor"),
                       .original_max = json.at("original_max"),
                       .beta_fast = json.value("beta_fast", 32.0),
                       .beta_slow = json.value("beta_slow", 1.0),
                       .attention_factor = maybe<double>(json, "attention_factor"),
                       .mscale = maybe<double>(json, "mscale"),
                       .mscale_all_dim = maybe<double>(json, "mscale_all_dim")};
  }
  if (kind == "llama3") {
    return Llama3Scaling{.factor = json.at("factor"),
                         .low_freq_factor = json.at("low_freq_factor"),
                         .high_freq_factor = json.at("high_freq_factor"),
                         .original_max = json.at("original_max")};
  }
  EXPECT_EQ(kind, "none");
  return {};
}

TEST(RotaryFrequencies, AgreeWithThePublishedFormulas) {
  const Json fixture = read_fixture("rotary.json");
  for (const Json& json : fixture.at("cases")) {
    const RotaryOptions options{.dim = json.at("dim"), .base = json.at("base"), .scaling = scaling_of(json)};
    const auto want = json.at("frequencies").get<std::vector<double>>();
    const std::vector<double> got = rotary_frequencies(options);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Two or three powers and a ramp: fewer than 64 roundings of the result's own size.
      EXPECT_NEAR(got[i], want[i], 64 * 0x1p-53 * want[i]) << json.at("scaling") << " pair " << i;
    }
    EXPECT_NEAR(rotary_magnitude(options), json.at("magnitude").get<double>(), 0x1p-50) << json.at("scaling");
  }
}

TEST(Rotary, AgreesWithTheOtherFormsOfBothLayouts) {
  const Json fixture = read_fixture("rotary.json").at("rotations");
  const Tensor x = tensor_of(fixture.at("x"));
  const Tensor positions = integers_of(fixture.at("positions"));
  for (const auto layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    const RotaryTables tables = rotary_tables({.dim = fixture.at("dim"), .layout = layout}, positions);
    const Tensor want = tensor_of(fixture.at(layout == RotaryLayout::interleaved ? "interleaved" : "half_split"));
    expect_close(turned(x, tables), want, 1e-12);  // angles up to 1000 rad carry 1000 * 2^-53 each
    expect_close(turned(x, tables), oracle::apply_rotary(x, tables), 1e-12);
    EXPECT_EQ(turned(x.to(DType::f32), tables).dtype(), DType::f32);
  }
}

TEST(Rotary, PartialDimsLeaveTheRestUntouched) {
  const Tensor x = Generator(2).randn({1, 2, 5, 7});
  const Tensor out = turned(x, rotary_tables({.dim = 4}, 5));
  EXPECT_EQ(Tensor(out.view().slice(3, 4, 7)).to_vector(), Tensor(x.view().slice(3, 4, 7)).to_vector());
  EXPECT_NE(Tensor(out.view().slice(3, 0, 4)).to_vector(), Tensor(x.view().slice(3, 0, 4)).to_vector());
}

TEST(Rotary, YarnStretchesCosAndSinByItsMagnitude) {
  const RotaryOptions options{.dim = 4, .scaling = YarnScaling{.factor = 4, .original_max = 64}};
  const RotaryTables tables = rotary_tables(options, 3);
  EXPECT_EQ(tables.cos.at({0, 1}), rotary_magnitude(options));
  EXPECT_NEAR(std::hypot(tables.cos.at({2, 0}), tables.sin.at({2, 0})), 0.1 * std::log(4.0) + 1.0, 0x1p-50);
}

double score(const Tensor& q, const Tensor& k, const RotaryOptions& options, std::int64_t i, std::int64_t j) {
  const Tensor turned_q = turned(q, rotary_tables(options, Tensor(std::vector<std::int64_t>{i}, {1})));
  const Tensor turned_k = turned(k, rotary_tables(options, Tensor(std::vector<std::int64_t>{j}, {1})));
  const std::vector<double> a = turned_q.to_vector();
  const std::vector<double> b = turned_k.to_vector();
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

RC_GTEST_PROP(Rotary, ScoresDependOnTheDistanceAlone, ()) {
  const auto dim = 2 * *rc::gen::inRange<std::int64_t>(2, 9);
  const auto rest = *rc::gen::inRange<std::int64_t>(0, 4);
  const auto i = *rc::gen::inRange<std::int64_t>(-500, 500);
  const auto j = *rc::gen::inRange<std::int64_t>(-500, 500);
  const auto shift = *rc::gen::inRange<std::int64_t>(-500, 500);
  const auto layout = *rc::gen::element(RotaryLayout::interleaved, RotaryLayout::half_split);
  const auto scaling = *rc::gen::element<RotaryScaling>(
      std::monostate{}, LinearScaling{.factor = 3}, NtkScaling{.factor = 3},
      YarnScaling{.factor = 3, .original_max = 128}, Llama3Scaling{.original_max = 512});
  const RotaryOptions options{.dim = dim, .layout = layout, .scaling = scaling};
  Generator generator(*rc::gen::arbitrary<std::uint64_t>());
  const Tensor q = generator.randn({1, 1, 1, dim + rest}, DType::f64);
  const Tensor k = generator.randn({1, 1, 1, dim + rest}, DType::f64);
  const double here = score(q, k, options, i, j);
  const double there = score(q, k, options, i + shift, j + shift);
  // An angle of up to 1000 rad is known to 1000 * 2^-53; dim products of numbers of the order of 10 follow it.
  RC_ASSERT(std::fabs(here - there) <= 1000 * 0x1p-52 * 100);
}

TEST(SharedRotary, IsOneTableForEqualOptions) {
  const RotaryOptions options{.dim = 6, .scaling = LinearScaling{.factor = 2}};
  const std::shared_ptr<SharedRotary> one = SharedRotary::of(options);
  EXPECT_EQ(one, SharedRotary::of(options));
  EXPECT_NE(one, SharedRotary::of({.dim = 6}));
  EXPECT_NE(one, SharedRotary::of({.dim = 6, .scaling = LinearScaling{.factor = 3}}));
  for (const std::int64_t end : {5, 200, 9}) {  // grows once, and serves less afterwards
    for (const DType dtype : {DType::f64, DType::f32}) {
      const RotaryTables tables = one->tables(2, end, dtype);
      const RotaryTables whole = rotary_tables(options, end, dtype);
      EXPECT_EQ(tables.cos.to_vector(), whole.cos.slice(0, 2, end).to_vector());
      EXPECT_EQ(tables.sin.to_vector(), whole.sin.slice(0, 2, end).to_vector());
      EXPECT_EQ(tables.cos.view().data(), one->tables(2, end, dtype).cos.view().data());
    }
  }
}

TEST(Rotary, NamesDimsThatCannotTurn) {
  EXPECT_EQ(message_of([] { (void)rotary_frequencies({.dim = 5}); }),
            "RotaryOptions: dim: expected an even number, 2 or more, got 5");
  EXPECT_EQ(message_of([] { (void)rotary_frequencies({.dim = 0}); }),
            "RotaryOptions: dim: expected an even number, 2 or more, got 0");
  EXPECT_EQ(message_of([] { (void)rotary_frequencies({.dim = 4, .base = 0}); }),
            "RotaryOptions: base: expected a positive number, got 0");
}

TEST(Rotary, NamesTablesThatDoNotFit) {
  const Tensor x(DType::f32, {2, 3, 4, 6});
  EXPECT_EQ(message_of([&] { (void)turned(x, rotary_tables({.dim = 8}, 4)); }),
            "rotary: cos: expected [4, pairs] or [2, 4, pairs] with 1 to 3 pairs, got [4, 4]");
  EXPECT_EQ(message_of([&] { (void)turned(x, rotary_tables({.dim = 4}, 5)); }),
            "rotary: cos: expected [4, pairs] or [2, 4, pairs] with 1 to 3 pairs, got [5, 2]");
  EXPECT_EQ(message_of([&] { (void)turned(x, rotary_tables({.dim = 4}, Tensor(DType::i64, {3, 4}))); }),
            "rotary: cos: expected [4, pairs] or [2, 4, pairs] with 1 to 3 pairs, got [3, 4, 2]");
  RotaryTables uneven = rotary_tables({.dim = 4}, 4);
  uneven.sin = Tensor(DType::f64, {4, 3});
  EXPECT_EQ(message_of([&] { (void)turned(x, uneven); }), "rotary: sin: expected [4, 2], got [4, 3]");
  EXPECT_EQ(message_of([&] { (void)turned(Tensor(DType::f32, {4, 6}), rotary_tables({.dim = 4}, 4)); }),
            "rotary: x: expected [B, H, T, D], got [4, 6]");
}

TEST(Rotary, NamesPositionsThatDoNotFit) {
  EXPECT_EQ(message_of([] { (void)rotary_tables({.dim = 4}, Tensor(DType::f32, {3})); }),
            "rotary_tables: positions: expected i64 or i32, got f32");
  EXPECT_EQ(message_of([] { (void)rotary_tables({.dim = 4}, Tensor(DType::i64, {3, 1, 1})); }),
            "rotary_tables: positions: expected [T] or [B, T], got [3, 1, 1]");
  EXPECT_EQ(message_of([] { (void)rotary_tables({.dim = 4}, -1); }), "rotary_tables: T: expected 0 or more, got -1");
}

std::string scaling_message(const RotaryScaling& scaling, std::int64_t dim = 4, double base = 10000.0) {
  return message_of([&] { (void)rotary_frequencies({.dim = dim, .base = base, .scaling = scaling}); });
}

// Each frequency by its own factor, of all tokens of a text otherwise once it is long.
TEST(RotaryFrequencies, OfLongTextsHaveFactorsOfTheirOwn) {
  const RotaryOptions options{
      .dim = 4,
      .base = 100,
      .scaling = LongRopeScaling{
          .shorter = {1, 2}, .longer = {4, 5}, .original_max = 3, .shorter_magnitude = 1.5, .longer_magnitude = 0.5}};
  EXPECT_THAT(rotary_frequencies(options, 3), testing::ElementsAre(1, testing::DoubleNear(0.05, 1e-15)));
  EXPECT_THAT(rotary_frequencies(options, 4), testing::ElementsAre(0.25, testing::DoubleNear(0.02, 1e-15)));
  EXPECT_EQ(rotary_tables(options, 3).cos.at({0, 0}), 1.5);
  const RotaryTables four = rotary_tables(options, 4);
  EXPECT_EQ(four.cos.at({0, 0}), 0.5);
  EXPECT_NEAR(four.sin.at({2, 0}), 0.5 * std::sin(0.5), 1e-15);
  const std::vector<std::int64_t> places = {3, 0};
  EXPECT_NEAR(rotary_tables(options, Tensor(places, {2})).sin.at({0, 1}), 0.5 * std::sin(0.06), 1e-15);
  SharedRotary shared(options);
  EXPECT_EQ(shared.tables(0, 3, DType::f64).cos.at({0, 0}), 1.5);
  EXPECT_EQ(shared.tables(3, 4, DType::f64).cos.at({0, 0}), four.cos.at({3, 0}));
  EXPECT_EQ(shared.tables(1, 2, DType::f64).cos.at({0, 0}), 1.5 * std::cos(1.0));
}

TEST(Rotary, NamesScalingsThatCannotBe) {
  EXPECT_EQ(scaling_message(LinearScaling{.factor = 0}), "LinearScaling: factor: expected a positive number, got 0");
  EXPECT_EQ(scaling_message(NtkScaling{.factor = -2}), "NtkScaling: factor: expected a positive number, got -2");
  EXPECT_EQ(scaling_message(NtkScaling{.factor = 2}, 2), "NtkScaling: dim: expected more than 2, got 2");
  EXPECT_EQ(scaling_message(YarnScaling{.factor = 0.5, .original_max = 8}),
            "YarnScaling: factor: expected 1 or more, got 0.5");
  EXPECT_EQ(scaling_message(YarnScaling{.factor = 2}), "YarnScaling: original_max: expected 1 or more, got 0");
  EXPECT_EQ(scaling_message(YarnScaling{.factor = 2, .original_max = 8, .beta_fast = 1}),
            "YarnScaling: beta_fast: expected more than beta_slow, 1, got 1");
  EXPECT_EQ(scaling_message(YarnScaling{.factor = 2, .original_max = 8, .mscale = 1.0}),
            "YarnScaling: mscale: expected both mscale and mscale_all_dim, or neither, got one of them");
  EXPECT_EQ(scaling_message(YarnScaling{
                .factor = 2, .original_max = 8, .attention_factor = 1.0, .mscale = 1.0, .mscale_all_dim = 1.0}),
            "YarnScaling: attention_factor: expected attention_factor or mscale, not both, got both");
  EXPECT_EQ(scaling_message(YarnScaling{.factor = 2, .original_max = 8}, 4, 0.5),
            "YarnScaling: base: expected more than 1, got 0.5");
  EXPECT_EQ(scaling_message(Llama3Scaling{.low_freq_factor = 4}),
            "Llama3Scaling: high_freq_factor: expected more than 4, got 4");
  EXPECT_EQ(scaling_message(Llama3Scaling{.original_max = 0}),
            "Llama3Scaling: original_max: expected 1 or more, got 0");
  EXPECT_EQ(scaling_message(LongRopeScaling{.shorter = {1, 2}, .longer = {1, 2}}),
            "LongRopeScaling: original_max: expected 1 or more, got 0");
  EXPECT_EQ(scaling_message(LongRopeScaling{.shorter = {1, 2}, .longer = {1}, .original_max = 8}),
            "LongRopeScaling: longer: expected 2 numbers above 0, one for each pair that turns, got 1");
  EXPECT_EQ(scaling_message(LongRopeScaling{.shorter = {1, 0}, .longer = {1, 2}, .original_max = 8}),
            "LongRopeScaling: shorter: expected 2 numbers above 0, one for each pair that turns, got 1 0");
}

}  // namespace
}  // namespace qkv::nn::rotary_test
