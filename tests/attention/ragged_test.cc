// Documents packed end to end are calls of their own.
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "core/error_message.h"
#include "qkv/attention.h"

namespace qkv::testing_attention::ragged_test {
namespace {

using testing::HasSubstr;

const Ragged kDocuments = {.q_offsets = {0, 5, 5, 75, 75, 140}, .k_offsets = {0, 9, 12, 82, 82, 85}};

Qkv packed(DType dtype) { return inputs_of({.B = 1, .H = 4, .Tq = 140, .Tk = 85}, {.Hk = 2, .D = 12, .Dv = 7}, dtype); }

AttentionResult run(const Qkv& inputs, AttentionOptions options, const std::string& target) {
  options.target = target;
  options.ragged = kDocuments;
  return attention(inputs.q, inputs.k, inputs.v, options);
}

// Document n's part of the packed tensors.
Qkv document(const Qkv& inputs, std::size_t n) {
  const auto& [q, k] = kDocuments;
  return {.q = Tensor(inputs.q.view().slice(2, q[n], q[n + 1])),
          .k = Tensor(inputs.k.view().slice(2, k[n], k[n + 1])),
          .v = Tensor(inputs.v.view().slice(2, k[n], k[n + 1]))};
}

std::vector<std::string> all_targets() {
  std::vector<std::string> names = fused_targets();
  names.emplace_back("reference");
  return names;
}

class RaggedBatch : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, RaggedBatch, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(RaggedBatch, IsALoopOverItsDocuments) {
  const std::vector<AttentionOptions> calls = {
      {},
      {.mask = causal()},
      {.bias = alibi(), .mask = causal(Align::top_left)},
      {.softcap = 3.0, .mask = window(20), .sinks = {1, 0, -1, 2}},
  };
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Qkv inputs = packed(dtype);
    for (const AttentionOptions& options : calls) {
      const AttentionResult result = run(inputs, options, GetParam());
      for (std::size_t n = 0; n + 1 < kDocuments.q_offsets.size(); ++n) {
        const Qkv own = document(inputs, n);
        AttentionOptions one = options;
        one.target = GetParam();
        const AttentionResult expected = attention(own.q, own.k, own.v, one);
        const auto part = [&](const Tensor& x) {
          return x.view().slice(2, kDocuments.q_offsets[n], kDocuments.q_offsets[n + 1]).to_vector();
        };
        EXPECT_EQ(part(result.out), expected.out.to_vector()) << "document " << n;
        EXPECT_EQ(part(result.lse), expected.lse.to_vector()) << "document " << n;
      }
    }
  }
}

TEST_P(RaggedBatch, KeepsItsPlans) {
  const Qkv inputs = packed(DType::f32);
  const std::size_t documents = kDocuments.q_offsets.size() - 1;
  const std::vector<Mask> masks = {causal(), key_lengths(std::vector<std::int64_t>(documents, 0))};
  for (const Mask& mask : masks) {
    AttentionOptions options = {.mask = mask, .plans = std::make_shared<MaskPlans>()};
    const AttentionResult first = run(inputs, options, GetParam());
    const std::int64_t made = options.plans->made();
    const std::int64_t plans = mask.varies_by_batch() ? static_cast<std::int64_t>(documents) : 1;
    EXPECT_GE(made, GetParam() == "reference" ? 0 : plans);
    EXPECT_EQ(run(inputs, options, GetParam()).out.to_vector(), first.out.to_vector());
    EXPECT_EQ(options.plans->made(), made);
    EXPECT_EQ(run(inputs, {.mask = mask}, GetParam()).out.to_vector(), first.out.to_vector());
  }
}

// What varies by batch entry varies by document.
TEST_P(RaggedBatch, CountsDocumentsAsBatchEntries) {
  const Qkv inputs = packed(DType::f32);
  const AttentionOptions options = {.mask = causal_offsets({0, 1, -3, 0, 2}), .dropout = Dropout{.p = 0.3, .seed = 11}};
  const AttentionResult result = run(inputs, options, GetParam());
  const AttentionResult expected = run(inputs, options, "reference");
  const std::vector<double> one = result.out.to_vector();
  const std::vector<double> other = expected.out.to_vector();
  for (std::size_t n = 0; n < one.size(); ++n) ASSERT_NEAR(one[n], other[n], 1e-5) << n;
  // The reference itself, one document of its own batch entry at a time: other places drop other weights.
  const Qkv third = document(inputs, 2);
  const AttentionResult alone = attention(
      third.q, third.k, third.v,
      {.mask = causal(Align::bottom_right, -3), .dropout = Dropout{.p = 0.3, .seed = 11}, .target = GetParam()});
  EXPECT_NE(alone.out.to_vector(), expected.out.view().slice(2, 5, 75).to_vector());
  EXPECT_EQ(alone.lse.to_vector(), result.lse.view().slice(2, 5, 75).to_vector());
}

TEST_P(RaggedBatch, HidesTheKeysOfEachDocumentByItself) {
  const Qkv inputs = packed(DType::f32);
  std::vector<std::int64_t> lengths;
  for (std::size_t n = 0; n + 1 < kDocuments.k_offsets.size(); ++n) {
    lengths.push_back((kDocuments.k_offsets[n + 1] - kDocuments.k_offsets[n] + 1) / 2);
  }
  const AttentionResult result = run(inputs, {.mask = key_lengths(lengths)}, GetParam());
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    const Qkv own = document(inputs, n);
    const AttentionResult expected = attention(own.q, own.k, own.v, {.mask = prefix(lengths[n]), .target = GetParam()});
    EXPECT_EQ(result.out.view().slice(2, kDocuments.q_offsets[n], kDocuments.q_offsets[n + 1]).to_vector(),
              expected.out.to_vector());
  }
}

// Every second key of each document, and the others: what each document drops and adds is by its own places.
TEST_P(RaggedBatch, IsWhatWindowsOfItsDocumentsMergeTo) {
  const Qkv inputs = packed(DType::f32);
  const auto& [q_offsets, k_offsets] = kDocuments;
  const AttentionOptions options = {.bias = alibi(), .mask = causal(), .dropout = Dropout{.p = 0.3, .seed = 11}};
  std::vector<AttentionResult> results;
  for (const std::int64_t first : {0, 1}) {
    AttentionOptions part = options;
    part.target = GetParam();
    part.ragged = Ragged{.q_offsets = q_offsets, .k_offsets = {0}};
    std::vector<std::int64_t> places;
    for (std::size_t n = 0; n + 1 < q_offsets.size(); ++n) {
      for (std::int64_t j = k_offsets[n] + first; j < k_offsets[n + 1]; j += 2) places.push_back(j);
      part.ragged->k_offsets.push_back(std::ssize(places));
      part.within.push_back({.Tq = q_offsets[n + 1] - q_offsets[n],
                             .Tk = k_offsets[n + 1] - k_offsets[n],
                             .first_j = first,
                             .step_j = 2});
    }
    const auto chosen = [&](const Tensor& x) {
      Tensor rows(x.dtype(), {1, x.dim(1), std::ssize(places), x.dim(3)});
      for (std::size_t n = 0; n < places.size(); ++n) {
        for (std::int64_t h = 0; h < x.dim(1); ++h) {
          for (std::int64_t d = 0; d < x.dim(3); ++d) {
            rows.set({0, h, static_cast<std::int64_t>(n), d}, x.at({0, h, places[n], d}));
          }
        }
      }
      return rows;
    };
    results.push_back(attention(inputs.q, chosen(inputs.k), chosen(inputs.v), part));
  }
  const std::array parts = {PartialAttention{results[0].out, results[0].lse},
                            PartialAttention{results[1].out, results[1].lse}};
  const AttentionResult got = merge_attention(parts);
  const AttentionResult expected = run(inputs, options, "reference");
  EXPECT_LE(largest_difference(got.out, expected.out), 1e-5);
  EXPECT_LE(largest_difference(got.lse, expected.lse), 1e-5);
}

TEST_P(RaggedBatch, MayHoldNoDocument) {
  const Tensor none(DType::f32, {1, 2, 0, 4});
  const AttentionResult result = attention(none, none, none, {.ragged = Ragged{{0}, {0}}, .target = GetParam()});
  EXPECT_EQ(result.out.shape(), (Shape{1, 2, 0, 4}));
}

class RaggedRefused : public testing::Test {
 protected:
  static std::string message(std::vector<std::int64_t> q_offsets, std::vector<std::int64_t> k_offsets,
                             AttentionOptions options = {}) {
    const Tensor q(DType::f32, {1, 1, 5, 2});
    const Tensor k(DType::f32, {1, 1, 7, 2});
    options.ragged = Ragged{std::move(q_offsets), std::move(k_offsets)};
    return error_message([&] { static_cast<void>(attention(q, k, k, options)); });
  }
};

TEST_F(RaggedRefused, OffsetsThatCutNothing) {
  EXPECT_EQ(message({}, {0, 7}),
            "attention: ragged.q_offsets: expected one offset more than there are documents, got none");
  EXPECT_EQ(message({1, 5}, {0, 7}), "attention: ragged.q_offsets: expected offsets from 0 on, got 1");
  EXPECT_EQ(message({0, 5}, {-1, 7}), "attention: ragged.k_offsets: expected offsets from 0 on, got -1");
  EXPECT_EQ(message({0, 3, 2, 5}, {0, 1, 2, 7}),
            "attention: ragged.q_offsets: expected offsets that do not decrease, got 2 after 3");
  EXPECT_EQ(message({0, 4}, {0, 7}), "attention: ragged.q_offsets: expected Tq = 5 as the last offset, got 4");
  EXPECT_EQ(message({0, 5}, {0, 3, 9}), "attention: ragged.k_offsets: expected Tk = 7 as the last offset, got 9");
  EXPECT_EQ(message({0, 2, 5}, {0, 7}), "attention: ragged.k_offsets: expected 3 offsets as in q_offsets, got 2");
}

TEST_F(RaggedRefused, MoreThanOneBatchEntry) {
  const Tensor x(DType::f32, {2, 1, 5, 2});
  EXPECT_EQ(error_message([&] { static_cast<void>(attention(x, x, x, {.ragged = Ragged{{0, 5}, {0, 5}}})); }),
            "attention: q: expected B = 1 as ragged wants it, got [2, 1, 5, 2]");
}

TEST_F(RaggedRefused, MasksAndBiasesThatDoNotFitADocument) {
  EXPECT_THAT(message({0, 2, 5}, {0, 3, 7}, {.mask = key_lengths({1, 1, 1})}), HasSubstr("2 batch entries"));
  EXPECT_THAT(message({0, 2, 5}, {0, 3, 7}, {.mask = key_lengths({4, 3})}), HasSubstr("at most 3"));
  EXPECT_THAT(message({0, 2, 5}, {0, 3, 7}, {.mask = !key_lengths({3, 5})}), HasSubstr("at most 4"));
  EXPECT_THAT(message({0, 2, 5}, {0, 3, 7}, {.bias = dense_bias(Tensor(DType::f32, {5, 7}))}), HasSubstr("[5, 7]"));
}

TEST_F(RaggedRefused, OnePlanForAllAndStages) {
  const TilePlan plan(all(), {.B = 1, .H = 1, .Tq = 5, .Tk = 7});
  EXPECT_EQ(message({0, 5}, {0, 7}, {.plan = &plan}),
            "attention: plan: expected none with ragged, whose documents have a plan each, got one");
  const Tensor x(DType::f32, {1, 1, 5, 2});
  EXPECT_EQ(
      error_message([&] { static_cast<void>(attention_stage(x, x, {.ragged = Ragged{{0, 5}, {0, 5}}}, Stage::raw)); }),
      "attention_stage: ragged: expected none: ask for each document by itself, got one");
}

}  // namespace
}  // namespace qkv::testing_attention::ragged_test
