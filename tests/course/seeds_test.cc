// Every figure that the five seeds print, to the printed digit. A test's name says where it stands: seed, then place.
// The literals are the seeds'; where one is wrong, the test says so and holds the right one.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

#include "qkv/attention.h"
#include "qkv/autograd/matmul.h"
#include "qkv/cost.h"
#include "qkv/course/worked.h"
#include "qkv/heads.h"
#include "qkv/nn/norm.h"
#include "qkv/nn/position.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::seeds_test {
namespace {

using Numbers = std::vector<double>;

/// Each number rounds to the printed one, half a unit of the last digit either way.
testing::AssertionResult prints(const TensorView& computed, int decimals, const Numbers& printed) {
  const Numbers values = computed.to_vector();
  if (values.size() != printed.size()) return testing::AssertionFailure() << values.size() << " numbers";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::fabs(values[i] - printed[i]) > 0.5 * std::pow(10.0, -decimals) + 1e-12) {
      return testing::AssertionFailure() << "number " << i << " is " << values[i] << ", printed " << printed[i];
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult prints(double computed, int decimals, double printed) {
  return prints(Tensor(Numbers{computed}, {1}), decimals, {printed});
}

Tensor matrix(std::int64_t columns, const Numbers& values) {
  return {values, {static_cast<std::int64_t>(values.size()) / columns, columns}};
}

TensorView head(const TensorView& rows) { return rows.unsqueeze(0).unsqueeze(0); }

Tensor stage(const TensorView& q, const TensorView& k, Stage which, const AttentionOptions& options = {}) {
  return Tensor(attention_stage(head(q), head(k), options, which, q.dtype()).view().select(0, 0).select(0, 0));
}

Tensor output(const TensorView& q, const TensorView& k, const TensorView& v, const AttentionOptions& options = {}) {
  return Tensor(attention(head(q), head(k), head(v), options).out.view().select(0, 0).select(0, 0));
}

// Summed in f64 and rounded once.
Tensor product_of(const Tensor& a, const Tensor& b) {
  const Variable product = matmul(Variable(a.to(DType::f64)), Variable(b.to(DType::f64)));
  return Tensor(product.value()).to(a.dtype());
}

double total(const TensorView& values) {
  double sum = 0;
  for (const double value : values.to_vector()) sum += value;
  return sum;
}

/// The claim of a worked example whose `what` contains `words`.
WorkedClaim claim(std::string_view example, std::string_view words) {
  for (const WorkedClaim& one : run_worked(example).claims) {
    if (one.what.find(words) != std::string::npos) return one;
  }
  ADD_FAILURE() << "no claim of " << example << " about " << words;
  return {};
}

double figure(const CostReport& report, std::string_view key) { return report.item(key).value.to_double(); }

// 000: the notebook has no outputs; PyTorch's are in scratch_notebook.txt (made by make_scratch_notebook.py).
class Scratch : public testing::Test {
 protected:
  Scratch() {
    std::ifstream file(QKV_SOURCE_DIR "/tests/course/scratch_notebook.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line.substr(line.find(':') + 1));
      Numbers& values = torch_[line.substr(0, line.find(' '))];
      for (double value = 0; words >> value;) values.push_back(value);
    }
  }

  /// To the four decimals that the notebook's own print statements would show.
  testing::AssertionResult matches(const TensorView& ours, const std::string& name) const {
    const auto found = torch_.find(name);
    if (found == torch_.end()) return testing::AssertionFailure() << "no " << name << " in the fixture";
    return prints(ours, 4, found->second);
  }

  /// A tensor of the worked example.
  static Tensor worked(std::string_view example, std::size_t step, std::size_t tensor = 0) {
    return run_worked(example).steps.at(step).tensors.at(tensor).values;
  }

 private:
  std::map<std::string, Numbers> torch_;
};

TEST_F(Scratch, Section1_EmbeddingPositionsAndX) {
  EXPECT_TRUE(matches(worked("scratch", 0), "embedding"));
  EXPECT_TRUE(matches(worked("scratch", 1), "positions"));
  EXPECT_TRUE(matches(worked("scratch", 2), "x"));
}

TEST_F(Scratch, Section3_ScoresToOutput) {
  EXPECT_TRUE(matches(worked("scratch", 4), "scores"));
  EXPECT_TRUE(matches(worked("scratch", 5), "scaled"));
  EXPECT_TRUE(matches(worked("scratch", 6), "weights"));
  EXPECT_TRUE(matches(worked("scratch", 7), "out"));
}

TEST_F(Scratch, Section3b_ScaleFactor) { EXPECT_TRUE(prints(std::sqrt(6.0), 4, 2.4495)); }

TEST_F(Scratch, Section4_CausalTableAndWeights) {
  EXPECT_TRUE(matches(worked("scratch-causal", 2), "causal_weights"));
  EXPECT_EQ(claim("scratch-causal", "table").agreement, Agreement::agrees);
}

TEST_F(Scratch, Section5_HeadsOneByOne) {
  EXPECT_TRUE(matches(worked("scratch-heads", 0, 0), "head0_weights"));
  EXPECT_TRUE(matches(worked("scratch-heads", 0, 1), "head1_weights"));
  EXPECT_TRUE(matches(worked("scratch-heads", 2), "multi_head_output"));
}

TEST_F(Scratch, Section6_HeadsPacked) {
  const Tensor first = worked("scratch-packed", 0, 0);
  const Tensor second = worked("scratch-packed", 0, 1);
  Numbers both = first.to_vector();
  for (const double value : second.to_vector()) both.push_back(value);
  EXPECT_TRUE(matches(matrix(4, both), "packed_weights"));
  EXPECT_TRUE(matches(worked("scratch-packed", 0, 2), "packed_output"));
  EXPECT_EQ(claim("scratch-packed", "packed form").agreement, Agreement::agrees);
}

TEST_F(Scratch, Section0And1_StatementsThatAreWrong) {
  EXPECT_EQ(claim("scratch", "the cell as it stands").agreement, Agreement::wrong);
  EXPECT_EQ(claim("scratch-order", "new order").agreement, Agreement::wrong);
  EXPECT_EQ(claim("scratch-rows", "each row").agreement, Agreement::wrong);
  EXPECT_EQ(claim("scratch-remarks", "numbers of words").computed, "the cat and the dog: ids 3, 1, 2, 3, 4, of 4 rows");
  EXPECT_EQ(claim("scratch-remarks", "the factor").agreement, Agreement::wrong);
  EXPECT_EQ(claim("scratch-remarks", "d_k = 1024").agreement, Agreement::agrees);
  EXPECT_EQ(claim("scratch-remarks", "head_0").computed, "rows of 4 numbers, 8 apart");
  const Tensor product = product_of(matrix(2, {2, -1}), matrix(3, {1, 2, 3, 10, 20, 30}));
  EXPECT_TRUE(prints(product, 0, {2 * 1 - 10, 2 * 2 - 20, 2 * 3 - 30}));
}

// 001
class MathNotebook : public testing::Test {
 protected:
  Generator generator{42};
  Tensor x = generator.randn({4, 8});
  Tensor w_q = generator.randn({8, 8});
  Tensor w_k = generator.randn({8, 8});
  Tensor w_v = generator.randn({8, 8});
  Tensor q = product_of(x, w_q);
  Tensor k = product_of(x, w_k);
  Tensor v = product_of(x, w_v);
};

TEST_F(MathNotebook, Cell2_X) {
  EXPECT_EQ(x.shape(), (Shape{4, 8}));
  EXPECT_TRUE(prints(x, 2, {1.93, 1.49,  0.9,   -2.11, 0.68, -1.23, -0.04, -1.6, -0.75, 1.65,  -0.39,
                            -1.4, -0.73, -0.56, -0.77, 0.76, 1.64,  -0.16, -0.5, 0.44,  -0.76, 1.08,
                            0.8,  1.68,  1.28,  1.3,   0.61, 1.33,  -0.23, 0.04, -0.25, 0.86}));
}

TEST_F(MathNotebook, Cell3_Shapes) {
  for (const Tensor* projected : {&q, &k, &v}) EXPECT_EQ(projected->shape(), (Shape{4, 8}));
}

TEST_F(MathNotebook, Cell4_Scores) {
  const Tensor scores = stage(q, k, Stage::raw);
  EXPECT_EQ(scores.shape(), (Shape{4, 4}));
  EXPECT_TRUE(prints(
      scores, 2,
      {48.36, -1.43, 7.06, 16.17, 1.88, 14.59, -10.85, -11.88, -20.9, -3.98, 16.85, 5.96, 7.22, 3.67, 49.61, 35.63}));
}

TEST_F(MathNotebook, Cell5_ScaledScores) {
  EXPECT_TRUE(prints(std::sqrt(8.0), 2, 2.83));
  EXPECT_TRUE(
      prints(stage(q, k, Stage::scaled), 2,
             {17.1, -0.51, 2.5, 5.72, 0.67, 5.16, -3.84, -4.2, -7.39, -1.41, 5.96, 2.11, 2.55, 1.3, 17.54, 12.6}));
}

TEST_F(MathNotebook, Cell6_WeightsAndRowSums) {
  const Tensor weights = stage(q, k, Stage::weights);
  EXPECT_EQ(weights.shape(), (Shape{4, 4}));
  EXPECT_TRUE(
      prints(weights, 3, {1., 0., 0., 0., 0.011, 0.989, 0., 0., 0., 0.001, 0.979, 0.021, 0., 0., 0.993, 0.007}));
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_TRUE(prints(total(weights.view().select(0, i)), 6, 1.));
}

TEST_F(MathNotebook, Cell7_Output) {
  const Tensor out = output(q, k, v);
  EXPECT_EQ(out.shape(), (Shape{4, 8}));
  EXPECT_TRUE(prints(out, 2, {-3.69, 0.8,   9.47,  -2.52, -6.27, -0.84, -3.96, -3.32, -1.78, 5.17, 3.8,
                              2.56,  -3.,   1.6,   0.38,  5.11,  -5.22, 3.38,  -5.24, 0.9,   3.28, -0.42,
                              3.67,  -0.99, -5.21, 3.4,   -5.28, 0.9,   3.34,  -0.39, 3.69,  -1.06}));
}

TEST_F(MathNotebook, Cell8_BothMatch) {
  EXPECT_EQ(claim("math", "output matches").agreement, Agreement::agrees);
  EXPECT_EQ(claim("math", "weights match").agreement, Agreement::agrees);
}

// 002
class Chapter : public testing::Test {
 protected:
  Tensor q = matrix(2, {1, 0, 0, 1, 1, 1});
  Tensor k = matrix(2, {1, 0, 0, 1, 1, 1});
  Tensor v = matrix(2, {2, 0, 0, 3, 1, 1});
};

TEST_F(Chapter, Section4_ScoresToWeightsOfToken3) {
  EXPECT_TRUE(prints(std::sqrt(2.0), 3, 1.414));
  EXPECT_TRUE(prints(stage(q, k, Stage::raw).view().select(0, 2), 0, {1, 1, 2}));
  const Tensor scaled(stage(q, k, Stage::scaled).view().select(0, 2));
  EXPECT_TRUE(prints(scaled, 3, {0.707, 0.707, 1.414}));
  Numbers exps = scaled.to_vector();
  for (double& value : exps) value = std::exp(value);
  EXPECT_TRUE(prints(matrix(3, exps), 3, {2.028, 2.028, 4.113}));
  EXPECT_TRUE(prints(exps[0] + exps[1] + exps[2], 3, 8.169));
  const Tensor weights(stage(q, k, Stage::weights).view().select(0, 2));
  EXPECT_FALSE(prints(weights, 3, {0.248, 0.248, 0.504}));  // as printed: wrong in the last digit
  EXPECT_TRUE(prints(weights, 3, {0.248, 0.248, 0.503}));
  EXPECT_EQ(claim("chapter-y3", "softmax").agreement, Agreement::rounding);
}

TEST_F(Chapter, Section4_Y3) {
  const Tensor y3(output(q, k, v).view().select(0, 2));
  EXPECT_FALSE(prints(y3, 3, {0.999, 1.247}));
  EXPECT_TRUE(prints(y3, 4, {1.0000, 1.2483}));
  // The printed figure comes from weights rounded to three digits first.
  EXPECT_TRUE(prints(product_of(matrix(3, {0.248, 0.248, 0.503}), v), 3, {0.999, 1.247}));
  EXPECT_EQ(claim("chapter-y3", "y_3 from the weights rounded").agreement, Agreement::agrees);
}

TEST_F(Chapter, Section6_FigureHasNoNumbersInTheText) {
  EXPECT_EQ(claim("chapter-figure", "y_2").agreement, Agreement::not_derivable);
  const double a = std::exp(std::sqrt(0.5));
  EXPECT_TRUE(prints(output(q, k, v).view().select(0, 1), 12, {(2 + a) / (1 + 2 * a), 4 * a / (1 + 2 * a)}));
}

TEST_F(Chapter, Section7And9_Sizes) {
  EXPECT_EQ(*cost({.layers = 6, .d_model = 512, .heads = 8}).config.d_k, 64);
  const CostConfig gpt3 = cost(cost_preset("gpt3")).config;
  EXPECT_EQ(gpt3.heads, 96);
  EXPECT_EQ(*gpt3.d_k, 128);
  EXPECT_EQ(gpt3.heads * *gpt3.d_k, 12288);
  EXPECT_EQ(gpt3.layers, 96);
  EXPECT_EQ(*gpt3.d_ff, 4 * gpt3.d_model);
  EXPECT_EQ(cost_preset("bert-base").layers, 12);
  EXPECT_EQ(cost_preset("gpt-1").layers, 12);
  EXPECT_TRUE(prints(figure(cost(cost_preset("gpt3")), "weights.total") / 1e9, 0, 175));
}

TEST_F(Chapter, Section9_Constants) {
  EXPECT_TRUE(prints(std::sqrt(2 / std::numbers::pi), 10, 0.7978845608));
  EXPECT_EQ(claim("layernorm-eps", "NumPy").agreement, Agreement::wrong);
  // std of [1e-3 … 4e-3] is 1.118e-3; eps = 1e-5 inside the root outweighs it.
  Generator generator(1);
  const Norm norm({.width = 4, .epsilon = 1e-5, .dtype = DType::f64}, generator);
  const Variable x(Tensor(Numbers{0.001, 0.002, 0.003, 0.004}, {4}));
  EXPECT_TRUE(prints(norm.forward(x).value().at({0}), 4, -0.0015 / std::sqrt(1.25e-6 + 1e-5)));
}

TEST_F(Chapter, Section5_ListingsWithTheUnscaledMaximum) {
  EXPECT_EQ(claim("softmax-max", "moderate").agreement, Agreement::agrees);
  EXPECT_EQ(claim("softmax-max", "near 1000").agreement, Agreement::wrong);
  EXPECT_EQ(claim("softmax-max", "near -1000").agreement, Agreement::wrong);
}

TEST_F(Chapter, Section10_WhatGrows) {
  EXPECT_EQ(claim("chapter-cost", "grow").agreement, Agreement::wrong);
  EXPECT_EQ(claim("chapter-cost", "full layer").agreement, Agreement::wrong);
  EXPECT_EQ(claim("chapter-rotary", "rotary").agreement, Agreement::agrees);
}

// 003
TEST(Lab, Step3_Scale) {
  EXPECT_TRUE(prints(std::sqrt(512.0), 1, 22.6));
  EXPECT_EQ(claim("lab-scale", "size of q").agreement, Agreement::wrong);
  EXPECT_NE(claim("lab-scale", "sum of the printed").agreement, Agreement::agrees);
}

TEST(Lab, Step4_Softmax) {
  const Tensor weights = softmax(Tensor(Numbers{2.3, -1.2, 4.5, 0.1}, {4}), -1);
  EXPECT_FALSE(prints(weights, 2, {0.12, 0.01, 0.85, 0.02}));
  EXPECT_TRUE(prints(weights, 4, {0.0984, 0.0030, 0.8878, 0.0109}));
  EXPECT_EQ(claim("lab-softmax", "step 4").agreement, Agreement::wrong);
}

TEST(Lab, Step5_WeightedSum) {
  const Tensor output = product_of(matrix(4, {0.1, 0.6, 0.2, 0.1}), matrix(1, {1, 10, 100, 1000}));
  EXPECT_TRUE(prints(output, 12, {0.1 * 1 + 0.6 * 10 + 0.2 * 100 + 0.1 * 1000}));
  EXPECT_EQ(claim("lab-context", "their sum").agreement, Agreement::agrees);
}

TEST(Lab, CompleteExample_Toy) {
  const Tensor q = matrix(4, {1, 0, 1, 0});
  const Tensor k = matrix(4, {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1});
  const Tensor v = matrix(4, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_FALSE(prints(stage(q, k, Stage::raw), 0, {2, 1, 1}));
  EXPECT_TRUE(prints(stage(q, k, Stage::raw), 0, {1, 1, 1}));
  EXPECT_FALSE(prints(stage(q, k, Stage::scaled), 1, {1.0, 0.5, 0.5}));
  EXPECT_TRUE(prints(stage(q, k, Stage::scaled), 1, {0.5, 0.5, 0.5}));
  EXPECT_FALSE(prints(stage(q, k, Stage::weights), 2, {0.5, 0.25, 0.25}));
  EXPECT_TRUE(prints(stage(q, k, Stage::weights), 4, {0.3333, 0.3333, 0.3333}));
  EXPECT_FALSE(prints(output(q, k, v), 1, {4.0, 5.0, 6.0, 7.0}));
  EXPECT_TRUE(prints(output(q, k, v), 1, {5.0, 6.0, 7.0, 8.0}));
  // Even from its own scores the printed softmax is wrong; only the last step follows from the one before.
  EXPECT_TRUE(prints(softmax(matrix(3, {1.0, 0.5, 0.5}), -1), 4, {0.4519, 0.2741, 0.2741}));
  EXPECT_TRUE(prints(product_of(matrix(3, {0.5, 0.25, 0.25}), v), 1, {4.0, 5.0, 6.0, 7.0}));
}

TEST(Lab, KeyConcepts1_MemoryAndTime) {
  const auto gib = [](std::int64_t tokens) {
    return figure(cost({.layers = 32, .d_model = 4096, .heads = 32, .tokens = tokens}), "scores.all_layers") / 0x1p30;
  };
  EXPECT_EQ(gib(512), 1);
  EXPECT_EQ(gib(2048), 16);
  EXPECT_EQ(gib(8192), 256);
  EXPECT_TRUE(prints(0.1 * 4 * 4, 1, 1.6));
  EXPECT_FALSE(prints(0.1 * 16 * 16, 0, 25));  // 25.6 s
  EXPECT_EQ(claim("lab-memory", "time at 512").agreement, Agreement::not_derivable);
}

TEST(Lab, KeyConcepts3_RowsOfWeights) {
  EXPECT_TRUE(prints(0.1 + 0.6 + 0.1 + 0.1 + 0.05 + 0.05, 12, 1));
  EXPECT_TRUE(prints(0.05 + 0.1 + 0.05 + 0.7 + 0.05 + 0.05, 12, 1));
  EXPECT_EQ(claim("lab-focus", "row of sat").agreement, Agreement::agrees);
  EXPECT_EQ(claim("lab-focus", "row of on").agreement, Agreement::wrong);  // 0.7 stands on "on" itself
}

TEST(Lab, Exercise1_Shapes) {
  Generator generator(42);
  const Tensor q = generator.randn({10, 64});
  EXPECT_EQ(output(q, q, q).shape(), (Shape{10, 64}));
  const Tensor weights = stage(q, q, Stage::weights);
  EXPECT_EQ(weights.shape(), (Shape{10, 10}));
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_TRUE(prints(total(weights.view().select(0, i)), 6, 1));
}

TEST(Lab, Exercise2_Parameters) {
  const auto projections = [](std::int64_t heads) {
    return figure(cost({.layers = 1, .d_model = 512, .heads = heads}), "weights.attention") * 3 / 4;
  };
  EXPECT_EQ(projections(1), 512 * 512 * 3);
  EXPECT_EQ(projections(1), 786432);
  EXPECT_EQ(projections(8), 786432);
  EXPECT_EQ(claim("lab-parameters", "separate linear").agreement, Agreement::wrong);
}

TEST(Lab, Exercise3_CausalMaskOf5) {
  const Mask mask = causal();
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(mask.allows({0, 0, i, j}, {1, 1, 5, 5}), j <= i);
  }
  EXPECT_EQ(claim("lab-causal", "exercise 3").agreement, Agreement::agrees);
}

TEST(Lab, MultiHead_Widths) {
  EXPECT_EQ(*cost({.layers = 1, .d_model = 512, .heads = 8}).config.d_k, 64);
  EXPECT_EQ(claim("lab-heads", "total computation").agreement, Agreement::wrong);
}

TEST(Lab, Production_LargeNumbers) {
  const CostConfig gpt3 = cost_preset("gpt3");
  EXPECT_EQ(gpt3.layers * gpt3.heads, 9216);
  EXPECT_EQ(gpt3.learned_positions, 2048);
  EXPECT_TRUE(prints(32768.0 * 32768.0 / 1e9, 0, 1));
  EXPECT_EQ(claim("lab-gpt4", "whole forward pass").agreement, Agreement::wrong);
  EXPECT_EQ(claim("lab-gpt4", "most of the cost").agreement, Agreement::wrong);
}

// 003 and 004
TEST(Pitfalls, EachIsShownByNumbers) {
  EXPECT_EQ(claim("forget-scale", "without the scale").agreement, Agreement::agrees);
  EXPECT_EQ(claim("forget-scale", "with the scale").agreement, Agreement::agrees);
  EXPECT_EQ(claim("mask-after", "after the softmax").agreement, Agreement::agrees);
  EXPECT_EQ(claim("mask-after", "before it").agreement, Agreement::agrees);
  EXPECT_EQ(claim("wrong-transpose", "3 tokens").agreement, Agreement::agrees);
  EXPECT_EQ(claim("wrong-transpose", "4 tokens").agreement, Agreement::wrong);
  EXPECT_EQ(claim("wrong-axis", "wrong axis").agreement, Agreement::agrees);
  EXPECT_EQ(claim("mask-broadcast", "4 heads").agreement, Agreement::agrees);
  EXPECT_EQ(claim("mask-broadcast", "2 heads").agreement, Agreement::wrong);
  EXPECT_EQ(claim("mask-broadcast", "must be 4-D").agreement, Agreement::wrong);
}

TEST(Pitfalls, MinusOneBillionIsNotMinusInfinity) {
  for (const char* words : {"pro tip 2", "f64", "f16"}) {
    EXPECT_EQ(claim("minus-1e9", words).agreement, Agreement::wrong) << words;
  }
  EXPECT_TRUE(std::isinf(static_cast<float>(Half(-1e9F))));
}

// 004
TEST(Slides, SystemsConstraints_Gpt3) {
  const CostReport report = cost(cost_preset("gpt3"));
  EXPECT_EQ(figure(report, "scores.one_head") / 4, 4194304);
  EXPECT_EQ(report.config.tokens, 2048);
  EXPECT_TRUE(prints(figure(report, "scores.all_heads") / 0x1p30, 1, 1.5));  // one layer, not a model instance
  EXPECT_EQ(figure(report, "scores.all_layers") / 0x1p30, 144);
  EXPECT_EQ(claim("gpt3-memory", "model instance").agreement, Agreement::wrong);
  CostConfig doubled = cost_preset("gpt3");
  doubled.tokens = 4096;
  EXPECT_EQ(figure(cost(doubled), "scores.all_layers") / figure(report, "scores.all_layers"), 4);
  EXPECT_EQ(claim("gpt3-memory", "FlashAttention").agreement, Agreement::agrees);
}

TEST(Slides, Step2AndHeads) {
  EXPECT_EQ(claim("module-scale", "step 2").agreement, Agreement::wrong);
  EXPECT_EQ(claim("module-heads", "total parameter count").agreement, Agreement::agrees);
}

}  // namespace
}  // namespace qkv::seeds_test
