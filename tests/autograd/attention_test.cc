#include "qkv/autograd/attention.h"

#include <gmock/gmock.h>

#include "autograd/gradient_check.h"
#include "core/error_message.h"
#include "oracle/rotary.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"
#include "qkv/nn/position.h"

namespace qkv::attention_test {
namespace {

using testing::IsEmpty;

using Variables = std::vector<Variable>;

// B, Hq, Hk, Tq, Tk, D, Dv all different.
std::vector<Tensor> numbers() {
  return {normal_numbers(1, {2, 4, 3, 6}), normal_numbers(2, {2, 2, 5, 6}), normal_numbers(3, {2, 2, 5, 7})};
}

TEST(Attention, HasTheGradientOfCentralDifferences) {
  const std::vector<AttentionOptions> all = {
      {},
      {.scale = 0.3, .softcap = 1.5, .mask = causal()},
      {.bias = alibi(), .mask = window(2), .sinks = {0.1, -0.3, 0.5, 1}},
      {.mask = causal(), .dropout = Dropout{.p = 0.3, .seed = 9}},
  };
  for (const AttentionOptions& options : all) {
    const Operation operation = [&](const Variables& x) { return attention(x[0], x[1], x[2], options); };
    EXPECT_THAT(gradient_fault(operation, numbers()), IsEmpty());
  }
}

TEST(Attention, GivesGradientsToLearnedTerms) {
  std::vector<Tensor> inputs = numbers();
  inputs.push_back(normal_numbers(4, {4, 1, 5}));
  inputs.push_back(normal_numbers(5, {8, 4}));
  inputs.push_back(normal_numbers(6, {4}));
  inputs.push_back(normal_numbers(7, {4}));
  const T5Buckets buckets{.buckets = 8, .max_distance = 4};
  const Operation operation = [&](const Variables& x) {
    return attention(x[0], x[1], x[2], {.bias = alibi(), .mask = causal()},
                     {.bias = {LearnedDenseBias{x[3]}, LearnedT5Bias{.table = x[4], .buckets = buckets},
                               LearnedAlibi{.slopes = x[5]}},
                      .sinks = x[6]});
  };
  EXPECT_THAT(gradient_fault(operation, inputs), IsEmpty());
}

TEST(Attention, LearnedTermsKeepTheirDtype) {
  Variables x;
  for (const Tensor& input : numbers()) x.push_back(Variable::parameter(input.to(DType::bf16)));
  const Variable slopes = Variable::parameter(normal_numbers(6, {4}).to(DType::f32));
  const Variable sinks = Variable::parameter(normal_numbers(7, {4}).to(DType::bf16));
  const Variable y = attention(x[0], x[1], x[2], {}, {.bias = {LearnedAlibi{.slopes = slopes}}, .sinks = sinks});
  backward(y, Tensor(y.value()));
  EXPECT_EQ(x[0].gradient().dtype(), DType::bf16);
  EXPECT_EQ(slopes.gradient().dtype(), DType::f32);
  EXPECT_EQ(sinks.gradient().dtype(), DType::bf16);
}

// As many roundings as its products and its exponent make; the engine's own tests hold its kernels to twice the error
// of a plain computation.
TEST(Attention, RoundsLittleAndTheSameOnAnyNumberOfThreads) {
  const Operation operation = [](const Variables& x) {
    return merge_heads(attention(split_heads(x[0], 4), split_heads(x[1], 2), split_heads(x[2], 2), {.mask = causal()}));
  };
  const std::vector<Tensor> inputs = {normal_numbers(1, {2, 70, 32}), normal_numbers(2, {2, 70, 16}),
                                      normal_numbers(3, {2, 70, 16})};
  EXPECT_THAT(precision_fault(operation, inputs, DType::f32, 64), IsEmpty());
  EXPECT_THAT(precision_fault(operation, inputs, DType::bf16, 16), IsEmpty());
  EXPECT_THAT(precision_fault(operation, inputs, DType::f16, 16), IsEmpty());
  EXPECT_THAT(threads_fault(operation, inputs, DType::f32), IsEmpty());
  EXPECT_THAT(threads_fault(operation, inputs, DType::bf16), IsEmpty());
  EXPECT_THAT(threads_fault(operation, inputs, DType::f16), IsEmpty());
}

TEST(Attention, ResultsMergeWithoutACopy) {
  const Variable x(normal_numbers(1, {2, 4, 3, 6}));
  const Variable y = attention(x, x, x);
  EXPECT_EQ(merge_heads(y).value().data(), y.value().data());
}

TEST(Attention, NamesWhatDoesNotFit) {
  const Variable x(normal_numbers(1, {2, 4, 3, 6}));
  const Variable flat(normal_numbers(1, {2, 4, 3}));
  EXPECT_EQ(error_message([&] { (void)attention(flat, x, x); }),
            "attention: q: expected [B, Hq, Tq, D], got [2, 4, 3]");
  EXPECT_EQ(error_message([&] { (void)attention(x, x, flat); }),
            "attention: v: expected [B, Hk, Tk, Dv], got [2, 4, 3]");
  EXPECT_EQ(error_message([&] { (void)attention(x, x, x, {.sinks = {1, 2, 3, 4}}, {.sinks = x}); }),
            "attention: learned.sinks: expected none if options.sinks is given, got [2, 4, 3, 6]");
  EXPECT_EQ(error_message([&] { (void)attention(x, x, x, {}, {.sinks = x}); }),
            "attention: learned.sinks: expected [Hq], got [2, 4, 3, 6]");
  EXPECT_EQ(error_message([&] { (void)attention(x, x, x, {}, {.bias = {LearnedAlibi{.slopes = x}}}); }),
            "attention: learned.bias: expected slopes [H], got [2, 4, 3, 6]");
  EXPECT_EQ(error_message([&] { (void)attention(x, x, x, {}, {.bias = {LearnedDenseBias{}}}); }),
            "attention: learned.bias: expected a variable, got an empty variable");
}

class Rotary : public testing::TestWithParam<RotaryLayout> {
 public:
  static RotaryTables tables(std::int64_t T) { return rotary_tables({.dim = 4, .layout = GetParam()}, T); }
};

TEST_P(Rotary, HasTheGradientOfCentralDifferences) {
  const Operation operation = [](const Variables& x) { return rotary(x[0], tables(3)); };
  EXPECT_THAT(gradient_fault(operation, {normal_numbers(1, {2, 2, 3, 6})}), IsEmpty());
  const Tensor positions(std::vector<std::int64_t>{0, 5, 2, 1, 1, 7}, {2, 3});
  const Operation of_batch = [&](const Variables& x) {
    return rotary(transpose(x[0], 2, 3), rotary_tables({.dim = 4, .layout = GetParam()}, positions));
  };
  EXPECT_THAT(gradient_fault(of_batch, {normal_numbers(1, {2, 2, 4, 3})}), IsEmpty());
}

TEST_P(Rotary, IsThatOfTheOracle) {
  const Tensor x = normal_numbers(1, {2, 3, 5, 8});
  const std::vector<double> expected = oracle::apply_rotary(x, tables(5)).to_vector();
  const std::vector<double> got = rotary(Variable(x), tables(5)).value().to_vector();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 8 * 0x1p-52);  // products up to 4
}

TEST_P(Rotary, RoundsLittleAndTheSameOnAnyNumberOfThreads) {
  const Operation operation = [](const Variables& x) { return merge_heads(rotary(split_heads(x[0], 4), tables(300))); };
  const std::vector<Tensor> inputs = {normal_numbers(1, {3, 300, 48})};
  EXPECT_THAT(precision_fault(operation, inputs, DType::f32, 4), IsEmpty());
  EXPECT_THAT(precision_fault(operation, inputs, DType::bf16, 2), IsEmpty());
  EXPECT_THAT(precision_fault(operation, inputs, DType::f16, 2), IsEmpty());
  EXPECT_THAT(threads_fault(operation, inputs, DType::f32), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Layouts, Rotary, testing::Values(RotaryLayout::half_split, RotaryLayout::interleaved),
                         [](const auto& test) {
                           return test.param == RotaryLayout::half_split ? "half_split" : "interleaved";
                         });

TEST(RotaryTurn, NamesWhatDoesNotFit) {
  const Variable x(normal_numbers(1, {2, 4, 3, 6}));
  EXPECT_EQ(error_message([&] { (void)rotary(x, rotary_tables({.dim = 4}, 5)); }),
            "rotary: cos: expected [3, pairs] or [2, 3, pairs] with 1 to 3 pairs, got [5, 2]");
  EXPECT_EQ(error_message([&] { (void)rotary(Variable(normal_numbers(1, {2, 4})), rotary_tables({.dim = 4}, 5)); }),
            "rotary: x: expected [B, H, T, D], got [2, 4]");
}

}  // namespace
}  // namespace qkv::attention_test
