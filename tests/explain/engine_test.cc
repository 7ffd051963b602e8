// What is shown is what the engine computes.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "qkv/attention.h"
#include "qkv/explain.h"
#include "qkv/nn/block.h"

namespace qkv::engine_test {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

ExplainOptions options_for(std::string text) {
  ExplainOptions options;
  options.text = std::move(text);
  options.whys = false;
  return options;
}

// The library keeps what maps an input as [Dout, Din].
void give(const Parameters& parameters, const std::string& name, const Tensor& weight) {
  assign(parameters, name, weight.view().transpose(0, 1));
}

MultiHeadOptions layer_options(const ExplainOptions& options) {
  return {.d_model = options.d_model, .heads = options.heads, .d_k = options.d_k, .d_v = options.d_v, .bias = false};
}

void give_attention(const Parameters& parameters, const std::string& prefix, const Explanation& explanation) {
  give(parameters, prefix + "q.weight", explanation.tensor("w_q"));
  give(parameters, prefix + "k.weight", explanation.tensor("w_k"));
  give(parameters, prefix + "v.weight", explanation.tensor("w_v"));
  give(parameters, prefix + "out.weight", explanation.tensor("w_o"));
}

MultiHeadAttention layer_of(const Explanation& explanation, const ExplainOptions& options) {
  MultiHeadAttention layer(layer_options(options), Init::undrawn(), DType::f64);
  give_attention(layer.parameters(), "", explanation);
  return layer;
}

// [1, T, d_model] in f64.
Variable batch_of(const Tensor& tokens) { return Variable(Tensor(tokens.view().unsqueeze(0), DType::f64)); }

// Sums of at most 32 products of numbers of the order of 4, in another order: 32 * 4 * 2^-53, and as much again for
// the map that follows.
constexpr double kRounding = 64 * 4 * 0x1p-53;

const Section& step(const Explanation& explanation, std::string_view id) {
  for (const Section& section : explanation.steps) {
    if (section.id == id) return section;
  }
  throw std::out_of_range(std::string(id));
}

TEST(Explain, DrawsTheEmbeddingsThatPyTorchDraws) {
  const Explanation explanation = explain(options_for("The cat sat down"));
  // torch.manual_seed(42); torch.randn(4, 8), as the notebook on the math of attention prints it.
  EXPECT_NEAR(explanation.tensor("embeddings").at({0, 0}), 1.93, 0.005);
  EXPECT_NEAR(explanation.tensor("embeddings").at({1, 1}), 1.65, 0.005);
  EXPECT_NEAR(explanation.tensor("embeddings").at({3, 7}), 0.86, 0.005);
}

TEST(Explain, OutputIsThatOfMultiHeadAttention) {
  ExplainOptions options = options_for("The cat sat down");
  options.mask = causal();
  options.d_k = 3;
  options.d_v = 5;
  const Explanation explanation = explain(options);
  const Variable expected =
      layer_of(explanation, options).forward(batch_of(explanation.tensor("x")), {.attention = {.mask = causal()}});
  EXPECT_THAT(explanation.tensor("output").to_vector(), Pointwise(DoubleNear(kRounding), expected.value().to_vector()));
}

TEST(Explain, CrossAttentionReadsTheContext) {
  ExplainOptions options = options_for("Le chat");
  options.context = "The cat sat";
  const Explanation explanation = explain(options);
  const Variable expected =
      layer_of(explanation, options)
          .forward_cross(batch_of(explanation.tensor("x")), batch_of(explanation.tensor("context")));
  EXPECT_THAT(explanation.tensor("output").to_vector(), Pointwise(DoubleNear(kRounding), expected.value().to_vector()));
  EXPECT_EQ(explanation.tensor("weights").shape(), (Shape{2, 2, 3}));
}

class Blocks : public testing::TestWithParam<Surroundings> {};

TEST_P(Blocks, ResultIsThatOfTheTransformerBlock) {
  ExplainOptions options = options_for("The cat sat down");
  options.surroundings = GetParam();
  const Explanation explanation = explain(options);
  const Tensor& w_1 = explanation.tensor("w_1");
  TransformerBlock block({.attention = layer_options(options),
                          .d_ff = w_1.dim(1),
                          .order = GetParam() == Surroundings::pre_norm_block ? NormOrder::pre : NormOrder::post},
                         Init::undrawn(), DType::f64);
  const Parameters all = block.parameters();
  give_attention(all, "attn.", explanation);
  give(all, "ffn.up.weight", w_1);
  give(all, "ffn.down.weight", explanation.tensor("w_2"));
  for (const char* norm : {"ln1.weight", "ln2.weight"}) assign(all, norm, Tensor(std::vector<double>(8, 1), {8}));
  const std::vector<double> expected = block.forward(batch_of(explanation.tensor("x"))).value().to_vector();
  EXPECT_THAT(explanation.tensor("result").to_vector(), Pointwise(DoubleNear(kRounding), expected));
}
INSTANTIATE_TEST_SUITE_P(BothOrders, Blocks,
                         testing::Values(Surroundings::pre_norm_block, Surroundings::post_norm_block));

TEST(Explain, OwnTensorsGoThroughAttention) {
  Generator generator(7);
  ExplainOptions options;
  options.whys = false;
  options.own = OwnTensors{generator.randn({4, 3, 2}), generator.randn({2, 5, 2}), generator.randn({2, 5, 6})};
  options.mask = causal();
  const Explanation explanation = explain(options);
  const auto batched = [](const Tensor& tensor) { return Tensor(tensor.view().unsqueeze(0), DType::f64); };
  AttentionOptions attention_options;
  attention_options.mask = causal();
  const Tensor expected =
      attention(batched(options.own->q), batched(options.own->k), batched(options.own->v), attention_options).out;
  EXPECT_EQ(explanation.tensor("out").to_vector(), expected.to_vector());
  EXPECT_EQ(explanation.steps.front().id, "tensors");
}

double last_number(const Table& table, std::string_view row, std::size_t column) {
  for (const std::vector<Cell>& cells : table.rows) {
    if (cells.front().text == row) return cells.at(column).number.value();
  }
  throw std::out_of_range(std::string(row));
}

TEST(Explain, TheQuerysSumIsTheRowOfTheOutput) {
  ExplainOptions options = options_for("The cat sat down");
  options.query = "cat";
  options.mask = causal();
  const Explanation explanation = explain(options);
  const Tensor& out = explanation.tensor("out");
  ASSERT_EQ(explanation.query->tables.size(), 6U);
  for (std::size_t head = 0; head < 2; ++head) {
    const Table& shares = explanation.query->tables[3 * head + 2];
    for (std::size_t d = 0; d < 4; ++d) {
      const double expected = out.at({static_cast<std::int64_t>(head), 1, static_cast<std::int64_t>(d)});
      EXPECT_NEAR(last_number(shares, "sum", 2 + d), expected, 4 * 4 * 2.3e-16);  // four terms below 4
      EXPECT_EQ(last_number(shares, "engine", 2 + d), expected);
    }
    EXPECT_NEAR(last_number(shares, "sum", 1), 1.0, 4 * 2.3e-16);
  }
}

TEST(Explain, ProductsOfTheQueryAddUpToTheScore) {
  ExplainOptions options = options_for("The cat sat down");
  options.query = "2";
  const Explanation explanation = explain(options);
  const Table& products = explanation.query->tables.front();
  double sum = 0;
  for (std::size_t d = 1; d <= 4; ++d) sum += last_number(products, "down", d);
  EXPECT_NEAR(sum, explanation.tensor("raw").at({0, 2, 3}), 1e-14);
  EXPECT_EQ(last_number(products, "down", 5), explanation.tensor("raw").at({0, 2, 3}));
}

// Wider than a picture: two dimensions a cell, each token a row, and every value kept beside it.
TEST(Explain, KeepsEveryValueOfWhatItDrawsInBlocks) {
  ExplainOptions options = options_for("The cat sat down");
  options.surroundings = Surroundings::pre_norm_block;
  options.d_model = 64;
  options.heads = 4;
  std::size_t pooled = 0;
  for (const Section& section : explain(options).steps) {
    for (const NamedHeatmap& named : section.heatmaps) {
      if (named.whole.size() == 0) continue;
      ++pooled;
      const Tensor& cells = named.heatmap.values;
      const bool is_weight = named.whole.dim(0) > 4;
      EXPECT_EQ(cells.dim(0), is_weight ? named.whole.dim(0) / (named.whole.dim(0) > 128 ? 2 : 1) : 4) << named.id;
      EXPECT_EQ(cells.dim(1), named.whole.dim(1) / (named.whole.dim(1) > 128 ? 2 : 1)) << named.id;
      if (is_weight) continue;
      EXPECT_NEAR(cells.at({3, 5}), (named.whole.at({3, 10}) + named.whole.at({3, 11})) / 2, 1e-15) << named.id;
      EXPECT_EQ(named.heatmap.column_labels[5], "10–11");
      EXPECT_EQ(named.heatmap.row_labels[3], "down");
    }
  }
  EXPECT_GT(pooled, 0U);
}

TEST(Explain, ARowThatSeesNothingIsZeroAndSaysSo) {
  ExplainOptions options = options_for("The cat sat down");
  options.mask = causal(Align::bottom_right, -1);
  const Explanation explanation = explain(options);
  for (std::int64_t d = 0; d < 8; ++d) EXPECT_EQ(explanation.tensor("concat").at({0, d}), 0.0);
  EXPECT_THAT(step(explanation, "softmax").notes,
              testing::Contains(testing::HasSubstr("“The” (0) sees no key at all")));
}

TEST(Explain, MasksAreCounted) {
  ExplainOptions options = options_for("The cat sat down");
  options.mask = causal();
  const Explanation explanation = explain(options);
  const Table& table = step(explanation, "masked").tables.front();
  EXPECT_THAT(table.title, testing::HasSubstr("keeps 20 of 32 pairs"));  // 10 of 16 in each of 2 heads
  EXPECT_EQ(table.rows[0][1].number, 2.0);                               // of 2 x 2 tiles the upper right, twice
  EXPECT_EQ(table.rows[0][3].number, 4.0);
}

TEST(Explain, EveryPositionSchemeHasItsSteps) {
  for (const auto& [name, id] :
       {std::pair{"sinusoidal", "positions"}, std::pair{"learned", "positions"}, std::pair{"rotary", "rotation"},
        std::pair{"alibi", "biased"}, std::pair{"t5", "biased"}}) {
    ExplainOptions options = options_for("The cat sat");
    options.position = positions_named(name);
    EXPECT_EQ(step(explain(options), id).id, id) << name;
  }
}

}  // namespace
}  // namespace qkv::engine_test
