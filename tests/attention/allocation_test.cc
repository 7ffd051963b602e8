// What a call allocates: nothing, where it is handed all that it asks for.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "attention/counted_new.h"
#include "attention/fused_call.h"
#include "qkv/backward.h"

namespace qkv::testing_attention::allocation_test {
namespace {

class Allocations : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, Allocations, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(Allocations, AreNoneWithScratchAndPlan) {
  for (const std::int64_t Tq : {1, 150}) {
    const MaskShape shape = {.B = 2, .H = 4, .Tq = Tq, .Tk = 300};
    const Qkv inputs = inputs_of(shape, {.Hk = 2, .D = 16, .Dv = 16}, DType::bf16);
    Tensor out(DType::bf16, {2, 4, Tq, 16});
    Tensor lse(DType::f32, {2, 4, Tq});
    AttentionOptions options = {
        .bias = alibi(std::vector<double>(4, 0.5)), .mask = causal(), .threads = 2, .target = GetParam()};
    const TilePlan plan(options.mask, shape);
    std::vector<std::byte> scratch(attention_scratch_bytes(inputs.q, inputs.k, inputs.v, options));
    options.plan = &plan;
    options.scratch = scratch;
    attention_into(out, lse, inputs.q, inputs.k, inputs.v, options);  // starts the threads
    const long before = allocations();
    attention_into(out, lse, inputs.q, inputs.k, inputs.v, options);
    EXPECT_EQ(allocations() - before, 0) << "Tq = " << Tq;
  }
}

TEST_P(Allocations, OfABackwardPassAreNoneWithScratchAndPlanAndPlaces) {
  const MaskShape shape = {.B = 2, .H = 4, .Tq = 150, .Tk = 300};
  const Qkv inputs = inputs_of(shape, {.Hk = 2, .D = 16, .Dv = 16}, DType::bf16);
  AttentionOptions options = {.mask = causal(), .threads = 2, .target = GetParam()};
  const TilePlan plan(options.mask, shape);
  options.plan = &plan;
  const AttentionResult result = attention(inputs.q, inputs.k, inputs.v, options);
  Tensor d_q(DType::bf16, inputs.q.shape());
  Tensor d_k(DType::bf16, inputs.k.shape());
  Tensor d_v(DType::bf16, inputs.v.shape());
  BackwardOptions backward = {.into = {.d_q = d_q, .d_k = d_k, .d_v = d_v}};
  const auto run = [&] {
    return attention_backward(result.out, inputs.q, inputs.k, inputs.v, result.out, result.lse, options, backward);
  };
  std::vector<std::byte> scratch(attention_backward_scratch_bytes(result.out, inputs.q, inputs.k, inputs.v, result.out,
                                                                  result.lse, options, backward));
  backward.scratch = scratch;
  static_cast<void>(run());  // starts the threads
  const long before = allocations();
  static_cast<void>(run());
  EXPECT_EQ(allocations() - before, 0);
}

}  // namespace
}  // namespace qkv::testing_attention::allocation_test
