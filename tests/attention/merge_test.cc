// Results of windows of keys, merged; and what a call in a window refuses.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "attention/fused_call.h"
#include "attention/random_call.h"
#include "core/error_message.h"
#include "qkv/backward.h"
#include "qkv/decode.h"

namespace qkv::testing_attention::merge_test {
namespace {

using testing::Each;
using testing::IsNan;
using testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One head; a row for each lse.
struct Part {
  Tensor out;
  Tensor lse;

  Part(std::vector<double> rows, const std::vector<double>& lses)
      : out(rows, {1, 1, static_cast<std::int64_t>(lses.size()), 2}),
        lse(lses, {1, 1, static_cast<std::int64_t>(lses.size())}) {}

  [[nodiscard]] PartialAttention view() const { return {.out = out, .lse = lse}; }
};

AttentionResult merged(const std::vector<Part>& parts) {
  std::vector<PartialAttention> views;
  for (const Part& part : parts) views.push_back(part.view());
  return merge_attention(views);
}

RC_GTEST_PROP(Merge, GivesTheCallOverAllKeys, ()) {
  const Call call = any_call();
  const std::int64_t Tk = call.k.dim(2);
  const std::int64_t cut = *rc::gen::inRange<std::int64_t>(0, Tk + 1);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    AttentionOptions options = call.options();
    options.within = {{.Tq = call.q.dim(2), .Tk = Tk, .first_j = begin}};
    return attention(call.q, call.k.slice(2, begin, end), call.v.slice(2, begin, end), options);
  };
  const AttentionResult first = part(0, cut);
  const AttentionResult second = part(cut, Tk);
  const std::array parts = {PartialAttention{first.out, first.lse}, PartialAttention{second.out, second.lse}};
  const AttentionResult got = merge_attention(parts);
  const AttentionResult expected = call.run();
  const RoundingBounds bounds = rounding_bounds(call);
  // Each side of the cut, and how its lse weighs it.
  RC_ASSERT(largest_difference(got.out, expected.out) <= 6 * bounds.out + 0x1p-48);
  RC_ASSERT(largest_difference(got.lse, expected.lse) <= 4 * (bounds.score + bounds.weight) + 0x1p-48);
}

TEST(Merge, WeighsPartsByTheirSums) {
  const AttentionResult got = merged({{{1, 2}, {std::log(3.0)}}, {{5, 6}, {0}}});
  EXPECT_NEAR(got.out.at({0, 0, 0, 0}), 2, 0x1p-50);
  EXPECT_NEAR(got.out.at({0, 0, 0, 1}), 3, 0x1p-50);
  EXPECT_NEAR(got.lse.at({0, 0, 0}), std::log(4.0), 0x1p-50);
}

TEST(Merge, DoesNotReadWhatSawNothing) {
  const AttentionResult got = merged({{{kNan, kNan, 0, 0}, {-kInfinity, -kInfinity}}, {{3, 4, 0, 0}, {7, -kInfinity}}});
  EXPECT_THAT(got.out.to_vector(), testing::ElementsAre(3, 4, 0, 0));
  EXPECT_THAT(got.lse.to_vector(), testing::ElementsAre(7, -kInfinity));
}

TEST(Merge, MakesNanOfARowWithANanLse) {
  const AttentionResult got = merged({{{1, 1, 1, 1}, {kNan, 0}}, {{1, 1, 1, 1}, {-kInfinity, kNan}}});
  EXPECT_THAT(got.out.to_vector(), Each(IsNan()));
  EXPECT_THAT(got.lse.to_vector(), Each(IsNan()));
}

TEST(Merge, LeavesASinglePartAsItIs) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Qkv inputs = inputs_of({.B = 2, .H = 3, .Tq = 70, .Tk = 20}, {.Hk = 1, .D = 8, .Dv = 5}, dtype);
    const AttentionResult result = attention(inputs.q, inputs.k, inputs.v);
    const std::array parts = {PartialAttention{result.out, result.lse}};
    const AttentionResult got = merge_attention(parts, 3);
    EXPECT_EQ(got.out.dtype(), dtype);
    EXPECT_EQ(got.out.to_vector(), result.out.to_vector());
    EXPECT_EQ(got.lse.to_vector(), result.lse.to_vector());
  }
}

TEST(Merge, AddsToAPartInPlace) {
  Part sum({1, 2}, {std::log(3.0)});
  const Part next({5, 6}, {0});
  const AttentionResult expected = merged({sum, next});
  const MutableTensorView out = sum.out;
  const MutableTensorView lse = sum.lse;
  const std::array parts = {PartialAttention{out, lse}, next.view()};
  merge_attention_into(out, lse, parts);
  EXPECT_EQ(out.view().to_vector(), expected.out.to_vector());
  EXPECT_EQ(lse.view().to_vector(), expected.lse.to_vector());
}

TEST(Merge, CountsASinkOnceWhereOnePartHasIt) {
  const Qkv inputs = inputs_of({.B = 1, .H = 2, .Tq = 3, .Tk = 6}, {.D = 4, .Dv = 4}, DType::f64);
  const auto part = [&](std::int64_t begin, std::vector<double> sinks) {
    return attention(inputs.q, inputs.k.slice(2, begin, begin + 3), inputs.v.slice(2, begin, begin + 3),
                     {.mask = causal(), .sinks = std::move(sinks), .within = {{.Tq = 3, .Tk = 6, .first_j = begin}}});
  };
  const AttentionResult first = part(0, {0.5, 2});
  const AttentionResult second = part(3, {});
  const std::array parts = {PartialAttention{first.out, first.lse}, PartialAttention{second.out, second.lse}};
  const AttentionResult got = merge_attention(parts);
  const AttentionResult expected = attention(inputs.q, inputs.k, inputs.v, {.mask = causal(), .sinks = {0.5, 2}});
  EXPECT_LE(largest_difference(got.out, expected.out), 0x1p-46);
  EXPECT_LE(largest_difference(got.lse, expected.lse), 0x1p-46);
}

TEST(Merge, SaysWhatItWants) {
  const Part part({1, 2}, {0});
  const Part longer({1, 2, 3, 4}, {0, 0});
  const auto message = [](std::span<const PartialAttention> parts, std::optional<int> threads = std::nullopt) {
    return error_message([&] { (void)merge_attention(parts, threads); });
  };
  EXPECT_EQ(message({}), "merge_attention: parts: expected one part or more, got none");
  EXPECT_EQ(message(std::array{PartialAttention{part.lse, part.lse}}),
            "merge_attention: parts: expected out of a shape [B, Hq, Tq, Dv], got [1, 1, 1]");
  EXPECT_EQ(message(std::array{part.view(), longer.view()}),
            "merge_attention: parts: expected every out [1, 1, 1, 2], got [1, 1, 2, 2]");
  EXPECT_EQ(message(std::array{PartialAttention{part.out, longer.lse}}),
            "merge_attention: parts: expected every lse [1, 1, 1], got [1, 1, 2]");
  const Tensor narrow = part.out.to(DType::f32);
  EXPECT_EQ(message(std::array{part.view(), PartialAttention{narrow, part.lse}}),
            "merge_attention: parts: expected every out f64, got f32");
  EXPECT_EQ(message(std::array{PartialAttention{narrow, narrow.select(3, 0).to(DType::f16)}}),
            "merge_attention: parts: expected every lse f32 or f64, got f16");
  EXPECT_EQ(message(std::array{PartialAttention{part.out, part.lse.to(DType::f32)}}),
            "merge_attention: parts: expected every lse f64, got f32");
  EXPECT_EQ(message(std::array{part.view()}, 0), "merge_attention: threads: expected 1 or more, got 0");
}

TEST(Merge, WritesWhereNothingElseLies) {
  Part part({1, 2, 3, 4}, {0, 0});
  const MutableTensorView out = part.out;
  Tensor lse(DType::f64, {1, 1, 2});
  Tensor short_out(DType::f64, {1, 1, 1, 2});
  Tensor apart(DType::f64, {1, 1, 2, 2});
  Tensor narrow_lse(DType::f32, {1, 1, 2});
  Tensor free_lse(DType::f64, {1, 1, 2});
  const std::array parts = {part.view()};
  const auto message = [&](const MutableTensorView& to, const MutableTensorView& to_lse) {
    return error_message([&] { merge_attention_into(to, to_lse, parts); });
  };
  EXPECT_EQ(message(short_out, lse), "merge_attention_into: out: expected the shape [1, 1, 2, 2], got [1, 1, 1, 2]");
  const MutableTensorView turned = out.transpose(2, 3);
  EXPECT_EQ(message(turned, lse), "merge_attention_into: out: expected a last stride of 1, got [4, 4, 1, 2]");
  EXPECT_EQ(message(apart, narrow_lse), "merge_attention_into: lse: expected f64, got f32");
  std::vector<double> room(8);
  const MutableTensorView first(room.data(), {1, 1, 2, 2});
  const MutableTensorView across(room.data() + 1, {1, 1, 2, 2});
  const std::array overlapping = {PartialAttention{first, lse}};
  EXPECT_EQ(
      error_message([&] { merge_attention_into(across, free_lse, overlapping); }),
      "merge_attention_into: out: expected memory apart from that of a part's out, got some that reaches over the "
      "same bytes");
}

TEST(WithinOption, WantsAWindowThatHoldsQAndK) {
  const Tensor q(DType::f32, {1, 1, 3, 4});
  const Tensor k(DType::f32, {1, 1, 5, 4});
  const auto message = [&](const AttentionOptions& options) {
    return error_message([&] { (void)attention(q, k, k, options); });
  };
  EXPECT_EQ(message({.within = {{.Tq = 8, .Tk = 8, .first_j = 4}}}),
            "attention: within: expected 5 keys or more from 4 on, 1 apart, got 4 of 8");
  EXPECT_EQ(message({.within = {{.Tq = 8, .Tk = 8, .step_i = 0}}}), "attention: within: expected step_i >= 1, got 0");
  EXPECT_EQ(message({.mask = documents({4, 3}), .within = {{.Tq = 8, .Tk = 8}}}),
            "documents: lengths: expected a sum of 8, the number of keys, got 7");
  const MatrixWindow large = {.Tq = 8, .Tk = 8};
  EXPECT_EQ(message({.within = {large, large}}),
            "attention: within: expected one, or with ragged one for each document, got 2");
  const Ragged ragged = {.q_offsets = {0, 1, 3}, .k_offsets = {0, 4, 5}};
  EXPECT_EQ(message({.ragged = ragged, .within = {large, large, large}}),
            "attention: within: expected one, or one for each of 2 documents, got 3");
  EXPECT_EQ(message({.ragged = ragged, .within = {large, {.Tq = 1, .Tk = 8}}}),
            "attention: within[1]: expected 2 queries or more from 0 on, 1 apart, got 1 of 1");
  EXPECT_EQ(message({.ragged = ragged, .within = {{.Tq = 8, .Tk = 3}}}),
            "attention: within: expected 4 keys or more from 0 on, 1 apart, got 3 of 3");
  EXPECT_EQ(message({.mask = documents({4, 4}), .ragged = ragged, .within = {large, {.Tq = 8, .Tk = 9}}}),
            "documents: lengths: expected a sum of 9, the number of keys, got 8");
  const TilePlan whole(causal(), {.Tq = 8, .Tk = 8});
  EXPECT_EQ(message({.mask = causal(), .within = {{.Tq = 8, .Tk = 8}}, .plan = &whole}),
            "attention: plan: expected one of [1, 1, 3, 5] in tiles of 3 x 5, got [1, 1, 8, 8] in tiles of 8 x 8");
  KvCache cache({.format = {.Hk = 1, .D = 4}, .B = 1, .capacity = 8});
  cache.append(k, k);
  const auto decoded = [&](const std::vector<MatrixWindow>& within) {
    return error_message([&] { (void)decode(q, cache, {.within = within}); });
  };
  EXPECT_EQ(decoded({large, large}), "decode: within: expected one, or one for each of 1 sequences, got 2");
  EXPECT_EQ(decoded({{.Tq = 8, .Tk = 8, .step_j = 2}}),
            "decode: within: expected 5 keys or more from 0 on, 2 apart, got 4 of 8");
}

class Wide : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, Wide, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

// What a 16-bit result is rounded from, on every target.
TEST_P(Wide, ResultsAndGradientsOf16BitsAreThoseInF32RoundedOnce) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const std::int64_t Tq : {1, 70}) {
      const Qkv inputs = inputs_of({.B = 1, .H = 4, .Tq = Tq, .Tk = 300}, {.Hk = 2, .D = 64, .Dv = 64}, dtype);
      const AttentionOptions options = {.mask = causal(), .target = GetParam()};
      const AttentionResult narrow = attention(inputs.q, inputs.k, inputs.v, options);
      Tensor out(DType::f32, narrow.out.shape());
      Tensor lse(DType::f32, narrow.lse.shape());
      attention_into(out, lse, inputs.q, inputs.k, inputs.v, options);
      EXPECT_EQ(out.to(dtype).to_vector(), narrow.out.to_vector());
      EXPECT_EQ(lse.to_vector(), narrow.lse.to_vector());
      const auto backward = [&](const BackwardOptions& how) {
        return attention_backward(narrow.out, inputs.q, inputs.k, inputs.v, narrow.out, narrow.lse, options, how);
      };
      const AttentionGradients expected = backward({});
      Tensor d_q(DType::f32, inputs.q.shape());
      Tensor d_k(DType::f32, inputs.k.shape());
      Tensor d_v(DType::f32, inputs.v.shape());
      (void)backward({.into = {.d_q = d_q, .d_k = d_k, .d_v = d_v}});
      EXPECT_EQ(d_q.to(dtype).to_vector(), expected.d_q.to_vector());
      EXPECT_EQ(d_k.to(dtype).to_vector(), expected.d_k.to_vector());
      EXPECT_EQ(d_v.to(dtype).to_vector(), expected.d_v.to_vector());
    }
  }
}

// The same sums, so that parts of large scores merge as exactly as parts of small ones.
TEST_P(Wide, LseIsWrittenInF64AndRoundsToThatInF32) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Qkv inputs = inputs_of({.B = 1, .H = 4, .Tq = 70, .Tk = 300}, {.Hk = 2, .D = 64, .Dv = 64}, dtype);
    for (const std::vector<double>& sinks : {std::vector<double>{}, std::vector<double>{1, 30, -2, 0}}) {
      const AttentionOptions options = {.scale = 8.0, .mask = causal(), .sinks = sinks, .target = GetParam()};
      const AttentionResult narrow = attention(inputs.q, inputs.k, inputs.v, options);
      Tensor out(dtype, narrow.out.shape());
      Tensor lse(DType::f64, narrow.lse.shape());
      attention_into(out, lse, inputs.q, inputs.k, inputs.v, options);
      EXPECT_EQ(out.to_vector(), narrow.out.to_vector());
      EXPECT_EQ(lse.to(DType::f32).to_vector(), narrow.lse.to_vector());
      EXPECT_NE(lse.to_vector(), narrow.lse.to_vector());
    }
  }
}

TEST(Merge, TakesAndWritesAnLseInF64BesideResultsInF32) {
  const Part first({1, 2}, {std::log(3.0)});
  const Part second({5, 6}, {0});
  const Tensor first_out = first.out.to(DType::f32);
  const Tensor second_out = second.out.to(DType::f32);
  const std::array parts = {PartialAttention{first_out, first.lse}, PartialAttention{second_out, second.lse}};
  Tensor out(DType::f32, first.out.shape());
  Tensor lse(DType::f64, first.lse.shape());
  merge_attention_into(out, lse, parts);
  EXPECT_EQ(lse.to_vector(), merged({first, second}).lse.to_vector());
  EXPECT_EQ(merge_attention(parts).lse.dtype(), DType::f32);
}

}  // namespace
}  // namespace qkv::testing_attention::merge_test
