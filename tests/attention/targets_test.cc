// Every target that this machine runs gives what the reference gives, through the public call.
#include "qkv/targets.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attention/fused_call.h"
#include "core/error_message.h"
#include "qkv/attention.h"
#include "qkv/backward.h"
#include "qkv/info.h"

namespace qkv::testing_attention::targets_test {
namespace {

using testing::HasSubstr;

bool tiles_take_f16() {
  const std::vector<CpuTarget> targets = cpu_targets();
  const auto amx = std::ranges::find(targets, "amx", &CpuTarget::name);
  return amx->instructions.ends_with("(tile unit emulated)") || std::ranges::count(cpu_instructions(), "amx-fp16") > 0;
}

// Of targets for caches of i8 or for products alone, the one that they leave attention to.
std::string attending(const std::string& target) {
  if (target == "avx2vnni") return "avx2";
  if (target == "avx512vnni") return "avx512";
  return target == "neondot" || target == "neoni8mm" ? "neon" : target;
}

class EachTarget : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, EachTarget, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(EachTarget, IsTheOneInUse) {
  EXPECT_EQ(attention_target(DType::bf16, {.target = GetParam()}), attending(GetParam()));
  EXPECT_EQ(attention_target(DType::f64, {.target = GetParam()}), "reference");
  const bool amx = GetParam().starts_with("amx");
  const bool pairs = GetParam().ends_with("bf16");
  const std::string vectors = GetParam() == "neonbf16" ? "neon" : amx || pairs ? "avx512" : attending(GetParam());
  EXPECT_EQ(attention_target(DType::f32, {.target = GetParam()}), GetParam() == "amxf32" ? "amxf32" : vectors);
  EXPECT_EQ(attention_target(DType::f16, {.target = GetParam()}), amx && tiles_take_f16() ? GetParam() : vectors);
}

TEST_P(EachTarget, AgreesWithTheReference) {
  const std::vector<AttentionOptions> calls = {
      {},
      {.mask = causal()},
      {.scale = -0.5, .softcap = 2.0},
      {.bias = alibi(), .mask = window(40) | prefix(3)},
      {.mask = causal(), .dropout = Dropout{.p = 0.25, .seed = 7}},
      {.mask = key_lengths({70, 0}), .sinks = {0.5, -1, 2, 0}},
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Qkv inputs = inputs_of({.B = 2, .H = 4, .Tq = 67, .Tk = 130}, {.Hk = 2, .D = 20, .Dv = 9}, dtype);
    for (AttentionOptions options : calls) {
      options.target = GetParam();
      expect_as_reference(inputs, options, attention(inputs.q, inputs.k, inputs.v, options));
    }
  }
}

TEST_P(EachTarget, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const std::int64_t Tq : {1, 3, 150}) {  // few queries are served by cutting the keys
    const Qkv inputs = inputs_of({.B = 2, .H = 4, .Tq = Tq, .Tk = 3000}, {.Hk = 2, .D = 16, .Dv = 16}, DType::f32);
    const auto run = [&](int threads) {
      return attention(inputs.q, inputs.k, inputs.v, {.mask = causal(), .threads = threads, .target = GetParam()});
    };
    const AttentionResult one = run(1);
    expect_as_reference(inputs, {.mask = causal()}, one);
    for (const int threads : {2, 3, 7}) {
      const AttentionResult result = run(threads);
      EXPECT_EQ(one.out.to_vector(), result.out.to_vector());
      EXPECT_EQ(one.lse.to_vector(), result.lse.to_vector());
    }
  }
}

TEST_P(EachTarget, TakesAnyStrides) {
  const Qkv inputs = inputs_of({.B = 2, .H = 2, .Tq = 9, .Tk = 70}, {.Hk = 2, .D = 12, .Dv = 5}, DType::f32);
  // The same numbers with the last two axes the other way round, and with the batch backwards.
  const auto transposed = [](const Tensor& x) { return Tensor(x.view().transpose(2, 3)); };
  const Tensor q = transposed(inputs.q);
  const Tensor k = transposed(inputs.k);
  const Tensor v = transposed(inputs.v);
  const AttentionOptions options = {.mask = causal(), .target = GetParam()};
  const AttentionResult expected = attention(inputs.q, inputs.k, inputs.v, options);
  const AttentionResult result =
      attention(q.view().transpose(2, 3), k.view().transpose(2, 3), v.view().transpose(2, 3), options);
  EXPECT_EQ(result.out.to_vector(), expected.out.to_vector());
  EXPECT_EQ(result.lse.to_vector(), expected.lse.to_vector());
}

TEST_P(EachTarget, HasAnAnswerForNothing) {
  const AttentionOptions options = {.target = GetParam()};
  const Tensor k(DType::f32, {2, 1, 3, 4});
  EXPECT_EQ(attention(Tensor(DType::f32, {2, 1, 0, 4}), k, k, options).out.shape(), (Shape{2, 1, 0, 4}));
  EXPECT_EQ(attention(Tensor(DType::f32, {0, 1, 3, 4}), Tensor(DType::f32, {0, 1, 3, 4}),
                      Tensor(DType::f32, {0, 1, 3, 5}), options)
                .lse.shape(),
            (Shape{0, 1, 3}));
  const AttentionResult no_keys =
      attention(k, Tensor(DType::f32, {2, 1, 0, 4}), Tensor(DType::f32, {2, 1, 0, 6}), options);
  EXPECT_THAT(no_keys.out.to_vector(), testing::Each(0));
  EXPECT_THAT(no_keys.lse.to_vector(), testing::Each(-INFINITY));
  const AttentionResult no_width = attention(k, k, Tensor(DType::f32, {2, 1, 3, 0}), options);
  EXPECT_THAT(no_width.lse.to_vector(), testing::Each(testing::DoubleNear(std::log(3.0), 0x1p-22)));
}

TEST_P(EachTarget, UsesAPlanThatIsHandedToIt) {
  const MaskShape shape = {.B = 2, .H = 2, .Tq = 100, .Tk = 90};
  const Qkv inputs = inputs_of(shape, {.Hk = 1, .D = 8, .Dv = 8}, DType::f32);
  const Mask mask = causal() & window(30);
  const TilePlan plan(mask, shape);
  const AttentionResult expected = attention(inputs.q, inputs.k, inputs.v, {.mask = mask, .target = GetParam()});
  const AttentionResult result =
      attention(inputs.q, inputs.k, inputs.v, {.mask = mask, .target = GetParam(), .plan = &plan});
  EXPECT_EQ(result.out.to_vector(), expected.out.to_vector());
}

TEST_P(EachTarget, PlansAMaskOnceForTheCallsThatKeepPlansTogether) {
  const Qkv inputs = inputs_of({.B = 2, .H = 2, .Tq = 100, .Tk = 90}, {.Hk = 1, .D = 8, .Dv = 8}, DType::f32);
  std::int64_t asked = 0;
  const Mask mask = predicate("thirds", [&](const Place& place, const MaskShape&) {
    ++asked;
    return (place.i + place.j) % 3 != 0;
  });
  const AttentionOptions options = {.mask = mask, .target = GetParam(), .plans = std::make_shared<MaskPlans>()};
  const AttentionResult first = attention(inputs.q, inputs.k, inputs.v, options);
  EXPECT_EQ(asked, 2 * 2 * 100 * 90);
  const AttentionResult second = attention(inputs.q, inputs.k, inputs.v, options);
  static_cast<void>(attention_backward(first.out, inputs.q, inputs.k, inputs.v, first.out, first.lse, options));
  EXPECT_EQ(asked, 2 * 2 * 100 * 90);
  EXPECT_EQ(options.plans->made(), 1);
  EXPECT_EQ(second.out.to_vector(), first.out.to_vector());
  const AttentionOptions alone = {.mask = mask, .target = GetParam()};
  EXPECT_EQ(attention(inputs.q, inputs.k, inputs.v, alone).out.to_vector(), first.out.to_vector());
}

TEST(Targets, F64RunsOnTheReference) {
  EXPECT_EQ(attention_target(DType::f64), "reference");
  EXPECT_EQ(attention_target(DType::f32, {.target = "reference"}), "reference");
}

TEST(Targets, TheChosenOneIsThatOfTheList) {
  const std::vector<CpuTarget> targets = cpu_targets();
  const auto chosen = std::ranges::find_if(targets, &CpuTarget::chosen);
  EXPECT_EQ(attention_target(DType::bf16), chosen->name);
}

TEST(Targets, AreRefusedByName) {
  const Tensor x(DType::f32, {1, 2, 3, 4});
  EXPECT_THAT(error_message([&] { static_cast<void>(attention(x, x, x, {.target = "abacus"})); }),
              testing::AllOf(HasSubstr("attention: target: expected a target that this build holds and this machine "
                                       "runs (reference "),
                             HasSubstr("got \"abacus\", which qkv does not know")));
  EXPECT_EQ(error_message([] { static_cast<void>(attention_target(DType::i32)); }),
            "attention_target: dtype: expected f64, f32, f16 or bf16, got i32");
}

TEST(Plans, OfAnotherShapeOrTileSizeAreRefused) {
  const Tensor x(DType::f32, {1, 2, 100, 4});
  const auto message = [&](const TilePlan& plan) {
    return error_message([&] { static_cast<void>(attention(x, x, x, {.plan = &plan})); });
  };
  EXPECT_EQ(
      message(TilePlan(all(), {.B = 1, .H = 2, .Tq = 100, .Tk = 99})),
      "attention: plan: expected one of [1, 2, 100, 100] in tiles of 64 x 64, got [1, 2, 100, 99] in tiles of 64 x "
      "64");
  EXPECT_EQ(
      message(TilePlan(all(), {.B = 1, .H = 2, .Tq = 100, .Tk = 100}, {.queries = 64, .keys = 32})),
      "attention: plan: expected one of [1, 2, 100, 100] in tiles of 64 x 64, got [1, 2, 100, 100] in tiles of 64 x "
      "32");
}

}  // namespace
}  // namespace qkv::testing_attention::targets_test
