#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "nn/fixture.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/shape.h"
#include "qkv/nn/block.h"

namespace qkv::nn::edited_heads_test {
namespace {

using testing::Each;

struct Case {
  std::string name;
  AttentionOptions attention;
};

// Twice this is beyond f32 in the third row, which then sees nothing; in f64 its weights are as without.
Bias half_forbidding() {
  Tensor lowest(DType::f32, {4, 5, 5});
  for (std::size_t h = 0; h < 4; ++h) {
    for (std::size_t j = 0; j < 5; ++j)
      lowest.values<float>()[(h * 5 + 2) * 5 + j] = std::numeric_limits<float>::lowest();
  }
  return dense_bias(lowest);
}

std::vector<Case> cases() {
  return {{.name = "plain", .attention = {}},
          {.name = "causal", .attention = {.mask = causal()}},
          {.name = "scale", .attention = {.scale = 0.3}},
          {.name = "softcap", .attention = {.softcap = 1.5}},
          {.name = "bias", .attention = {.bias = alibi()}},
          {.name = "dense bias", .attention = {.bias = dense_bias(normal({4, 5, 5}, 8))}},
          {.name = "biases beyond f32", .attention = {.bias = half_forbidding() + half_forbidding()}},
          {.name = "mask by head", .attention = {.mask = dense(Generator(9).randint(0, 2, {4, 5, 5}).to(DType::u8))}},
          {.name = "rows that see nothing", .attention = {.mask = key_lengths({5, 0})}},
          {.name = "sinks", .attention = {.sinks = {0.5, -1.0, 2.0, 0.0}}},
          {.name = "dropout", .attention = {.dropout = Dropout{.p = 0.4, .seed = 5}}},
          {.name = "all",
           .attention = {.scale = 0.7,
                         .softcap = 2.0,
                         .bias = alibi(),
                         .mask = causal() & window(3),
                         .dropout = Dropout{.p = 0.2, .seed = 7},
                         .sinks = {0.5, -1.0, 2.0, 0.0}}}};
}

// Four query heads on two of keys.
TransformerBlock made(DType dtype) {
  Generator generator(3);
  return {{.attention = {.d_model = 8, .heads = 4, .kv_heads = 2}}, generator, dtype};
}

Variable same(const Variable& x) { return x; }

Tensor heads_of(const TransformerBlock& block, const AttentionOptions& attention, Trace& trace, DType dtype) {
  (void)block.forward(Variable(normal({2, 5, 8}, 1, dtype)), {.attention = attention, .trace = &trace});
  return trace["attn.heads"];
}

// What is no edit gives what the fused path gives: weighted sums of five values of the order of 2, with scores of the
// order of 5 whose roundings the exponential passes on, so 64 roundings of numbers of the order of 4.
TEST(EditedHeads, AnIdentityIsTheFusedResult) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    const double tolerance = 64 * 4 * (dtype == DType::f64 ? 0x1p-53 : 0x1p-24);
    const TransformerBlock block = made(dtype);
    for (const Case& one : cases()) {
      for (const char* stage : {"attn.weights", "attn.masked"}) {
        SCOPED_TRACE(one.name + " " + stage);
        Trace fused;
        Trace edited;
        edited.edit_heads(stage, {1, 2}, same);
        const Tensor want = heads_of(block, one.attention, fused, dtype);
        const Tensor got = heads_of(block, one.attention, edited, dtype);
        expect_close(got, want, tolerance);
        for (const std::int64_t h : {0, 3}) {
          EXPECT_EQ(got.view().select(1, h).to_vector(), want.view().select(1, h).to_vector()) << h;
        }
      }
    }
  }
}

TEST(EditedHeads, OnlyTheNamedHeadChanges) {
  const TransformerBlock block = made(DType::f64);
  Trace fused;
  Trace edited;
  edited.edit_heads("*.weights", {2}, [](const Variable& weights) { return scale(weights, 0); });
  const Tensor want = heads_of(block, {.mask = causal()}, fused, DType::f64);
  const Tensor got = heads_of(block, {.mask = causal()}, edited, DType::f64);
  EXPECT_THAT(got.view().select(1, 2).to_vector(), Each(0));
  for (const std::int64_t h : {0, 1, 3}) {
    EXPECT_EQ(got.view().select(1, h).to_vector(), want.view().select(1, h).to_vector()) << h;
  }
  EXPECT_THAT(edited["attn.weights"].view().select(1, 2).to_vector(), Each(0));
  expect_close(edited["attn.weights"].view().select(1, 1), fused["attn.weights"].view().select(1, 1), 0);
}

TEST(EditedHeads, NoHeadsMeansAll) {
  const TransformerBlock block = made(DType::f64);
  Trace trace;
  std::int64_t calls = 0;
  trace.edit_heads("attn.weights", {}, [&](const Variable& weights) {
    ++calls;
    EXPECT_EQ(weights.shape(), (Shape{2, 1, 5, 5}));
    return scale(weights, 0);
  });
  EXPECT_THAT(heads_of(block, {}, trace, DType::f64).to_vector(), Each(0));
  EXPECT_EQ(calls, 4);
}

// A constant added to every score of a row is no change to its softmax.
TEST(EditedHeads, ScoresAreEditedBeforeTheSoftmax) {
  const TransformerBlock block = made(DType::f64);
  Trace fused;
  Trace edited;
  edited.edit_heads("attn.masked", {0},
                    [](const Variable& masked) { return masked + Variable(Tensor(std::vector<double>{3}, {1})); });
  expect_close(heads_of(block, {.mask = causal()}, edited, DType::f64),
               heads_of(block, {.mask = causal()}, fused, DType::f64), 1e-12);
}

// Each head's result is the product of the weights that are shown and of v, whatever was edited before.
TEST(EditedHeads, WhatFollowsAnEditIsShown) {
  const TransformerBlock block = made(DType::f64);
  for (const Case& one : cases()) {
    for (const char* stage : {"attn.weights", "attn.masked"}) {
      SCOPED_TRACE(one.name + " " + stage);
      Trace trace;
      trace.edit_heads(stage, {1, 2}, [](const Variable& matrix) { return matrix * 0.5; });
      const Tensor heads = heads_of(block, one.attention, trace, DType::f64);
      const Tensor weights = trace["attn.dropped"];
      const Tensor v = trace["attn.v"];
      Tensor products(DType::f64, heads.shape());
      const MutableTensorView places = products;
      for (std::int64_t h = 0; h < 4; ++h) {
        for (std::int64_t b = 0; b < 2; ++b) {
          for (std::int64_t i = 0; i < 5; ++i) {
            for (std::int64_t d = 0; d < 2; ++d) {
              double sum = 0;
              for (std::int64_t j = 0; j < 5; ++j) sum += weights.at({b, h, i, j}) * v.at({b, h / 2, j, d});
              places.set({b, h, i, d}, sum);
            }
          }
        }
      }
      expect_close(heads, products, 64 * 4 * 0x1p-53);
    }
  }
}

TEST(EditedHeads, GradientsFlowThroughAnEdit) {
  const TransformerBlock block = made(DType::f64);
  const auto gradients_with = [&](const Trace& trace) {
    for (const Parameter& parameter : block.parameters()) parameter.value.clear_gradient();
    backward(block.forward(Variable(normal({2, 5, 8}, 1)), {.attention = {.mask = causal()}, .trace = &trace}),
             normal({2, 5, 8}, 2));
    std::vector<Tensor> all;
    for (const Parameter& parameter : block.parameters()) all.emplace_back(parameter.value.gradient());
    return all;
  };
  Trace edited;
  edited.edit_heads("attn.weights", {0, 3}, same);
  const std::vector<Tensor> want = gradients_with(Trace());
  const std::vector<Tensor> got = gradients_with(edited);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t n = 0; n < got.size(); ++n) expect_close(got[n], want[n], 1e-12);
}

// The attention of a layer that runs by itself has no name of its own.
TEST(EditedHeads, ALayerByItselfIsEditedToo) {
  Generator generator(3);
  const MultiHeadAttention layer({.d_model = 8, .heads = 2}, generator, DType::f64);
  Trace trace;
  trace.edit_heads("weights", {1}, [](const Variable& weights) { return scale(weights, 0); });
  (void)layer.forward(Variable(normal({1, 3, 8}, 1)), {.trace = &trace});
  EXPECT_THAT(trace["heads"].view().select(1, 1).to_vector(), Each(0));
  EXPECT_THAT(trace["weights"].view().select(1, 1).to_vector(), Each(0));
}

TEST(EditedHeads, NamesAHeadThatIsNotThere) {
  Trace trace;
  trace.edit_heads("attn.weights", {1, 4}, same);
  EXPECT_EQ(message_of([&] { (void)heads_of(made(DType::f64), {}, trace, DType::f64); }),
            "Trace::edit_heads: heads: expected 0 to 3, the heads of \"attn\", got 4");
}

TEST(EditedHeads, NamesWhatCannotBeEdited) {
  Trace trace;
  EXPECT_EQ(message_of([&] { trace.edit_heads("attn.raw", {}, same); }),
            "Trace: pattern: expected a name that ends in .masked or .weights, got \"attn.raw\"");
  trace.edit_heads("attn.weights", {0}, [](const Variable& weights) { return slice(weights, 2, 0, 1); });
  EXPECT_EQ(message_of([&] { (void)heads_of(made(DType::f64), {}, trace, DType::f64); }),
            "Trace::edit_heads: attn.weights: expected f64 [2, 1, 5, 5], got [2, 1, 1, 5]");
}

}  // namespace
}  // namespace qkv::nn::edited_heads_test
