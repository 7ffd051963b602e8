// Passes without a head by what differs from the whole pass, against passes of their own in f32.
#include <gmock/gmock.h>

#include <cmath>

#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "kernels/product/known_product.h"
#include "nn/known_linears.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/softmax.h"
#include "qkv/insight/heads.h"

namespace qkv::importance_test {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::Le;

constexpr double kRounding = 1.0 / 256;  // of bf16

double norm_of_difference(const TensorView& a, const TensorView& b) {
  const std::vector<double> x = a.to_vector();
  const std::vector<double> y = b.to_vector();
  double sum = 0;
  for (std::size_t n = 0; n < x.size(); ++n) sum += (x[n] - y[n]) * (x[n] - y[n]);
  return std::sqrt(sum);
}

std::vector<HeadText> texts_of(std::int64_t vocabulary) {
  std::vector<HeadText> texts(2);
  for (std::int64_t n = 0; n < 12; ++n) {
    texts[0].ids.push_back((17 * n + n * n) % vocabulary);
    texts[1].ids.push_back((5 * n + 3 * n * n) % vocabulary);
  }
  for (HeadText& text : texts) {
    text.targets.assign(text.ids.begin() + 1, text.ids.end());
    text.targets.push_back(-100);
  }
  return texts;
}

TEST(RowDifferences, RoundWhatDiffersAndLeaveFarRows) {
  Generator generator(1);
  const Tensor known = generator.randn({3, 40}, DType::f32);
  const Variable weight(generator.randn({70, 40}, DType::f32));
  Tensor x(DType::f32, {6, 40});
  for (std::int64_t row = 0; row < 6; ++row) {
    const double shift = row == 4 ? 2 : row == 2 ? 0 : 0.01;
    for (std::int64_t k = 0; k < 40; ++k) x.set({row, k}, known.at({row % 3, k}) + shift * std::sin(row + 3 * k));
  }
  const NoGradient constant;
  const kernels::RowDifferences differences(x, known);
  EXPECT_THAT(differences.far(), ElementsAre(4));
  const auto packed = kernels::PackedWeight::of(weight.value(), DType::bf16);
  if (packed == nullptr) GTEST_SKIP() << "no products of bf16 on this machine";
  const Variable before = linear(Variable(known), weight);
  const Variable exact = linear(Variable(x), weight);
  Tensor out(DType::f32, {6, 70});
  differences.multiply(out, before.value(), *packed);
  kernels::put_rows(linear(Variable(kernels::rows_at(x, differences.far())), weight).value(), differences.far(), out);
  for (std::int64_t row = 0; row < 6; ++row) {
    const TensorView own = exact.value().select(0, row);
    const double changed = norm_of_difference(own, before.value().select(0, row % 3));
    EXPECT_THAT(norm_of_difference(out.view().select(0, row), own), Le(kRounding * changed + 1e-4)) << row;
  }
}

// Of all heads, in every layer: the states behind the last norm.
TEST(KnownLinears, GiveThePassWithoutAHead) {
  Generator generator(2);
  const Model model(Decoder({.vocabulary = 50, .layers = 3, .d_model = 32, .heads = 4}, generator));
  const std::vector<HeadText> texts = texts_of(50);
  const insight::TextBatch batch = insight::batches_of(texts, 1).front();
  std::vector<std::string> names = insight::names_of_streams(model);
  names.emplace_back("ln_final");
  Trace whole(names);
  nn::KnownLinears known;
  {
    const nn::NotedLinears noted(known);
    model.run(batch.input(), whole);
  }
  ASSERT_NE(known.find("blocks.1.ffn.up"), nullptr);
  nn::RoundedWeights weights;
  double error = 0;
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const insight::RemovedLayer removed{.scope = *model.scope_of(AttentionSite::tokens), .layer = layer, .heads = 4};
    std::vector<Tensor> states;
    const insight::WithoutHead add = [&](std::int64_t, std::span<const Tensor> values, std::int64_t row) {
      if (row == 0) states.push_back(values.front());
    };
    insight::without_each_head(model, batch.input(), whole, removed, {"ln_final"}, add);
    const nn::LinearDifferences differences(known, weights);
    insight::without_each_head(model, batch.input(), whole, removed, {"ln_final"}, add);
    ASSERT_EQ(states.size(), 2U);
    for (std::int64_t row = 0; row < states[0].dim(0); ++row) {
      const TensorView exact = states[0].view().select(0, row);
      const double changed = norm_of_difference(exact, whole["ln_final"].view().select(0, row % 2));
      const double off = norm_of_difference(states[1].view().select(0, row), exact);
      EXPECT_THAT(off, Le(2 * kRounding * changed)) << layer << ", row " << row;
      error += off;
    }
  }
  EXPECT_GT(error, 0) << "the differences were not rounded, so that nothing was tried";
}

TEST(Importance, OfALargeModelIsThatOfPassesInF32) {
  constexpr std::int64_t kVocabulary = 16'384;
  Generator generator(3);
  const Model model(Decoder({.vocabulary = kVocabulary, .layers = 2, .d_model = 256, .heads = 4}, generator));
  const std::vector<HeadText> texts = texts_of(kVocabulary);
  const HeadAnalysis found = analyze_heads(model, texts, {.importance_texts = 2});
  const insight::TextBatch batch = insight::batches_of(texts, 1).front();
  const auto loss = [&](Trace* trace) {
    const NoGradient constant;
    return cross_entropy(model.forward(batch.input(), {.trace = trace}), batch.targets).item();
  };
  const double whole = loss(nullptr);
  EXPECT_NEAR(*found.loss, whole, 4e-6);
  for (const HeadStatistics& head : found.sites.front().all) {
    Trace without = Trace(std::vector<std::string>{});
    without.edit("blocks." + std::to_string(head.layer) + ".attn.heads",
                 [&](const Variable& x) { return insight::without_heads(x, head.head); });
    const double rise = loss(&without) - whole;
    EXPECT_THAT(std::abs(rise), Gt(1e-5));
    EXPECT_NEAR(*head.removal, rise, 4 * kRounding * std::abs(rise) + 1e-5) << head.layer << '.' << head.head;
  }
}

}  // namespace
}  // namespace qkv::importance_test
