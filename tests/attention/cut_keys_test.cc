// Calls of few blocks of queries, which every core serves because their keys are cut.
#include <gmock/gmock.h>

#include "attention/fused_call.h"
#include "qkv/attention.h"

namespace qkv::testing_attention::cut_keys_test {
namespace {

class CutKeys : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, CutKeys, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

struct FewBlocks {
  MaskShape shape;
  std::int64_t Hk;
};

// 71 heads share one key head; 8 heads of 16 queries; 2 heads of 65; documents of 40 and 5,000 keys.
const FewBlocks kCalls[] = {{{.B = 1, .H = 71, .Tq = 1, .Tk = 5000}, 1},
                            {{.B = 1, .H = 8, .Tq = 16, .Tk = 5000}, 1},
                            {{.B = 1, .H = 2, .Tq = 65, .Tk = 4200}, 2}};

TEST_P(CutKeys, ServesSeveralBlocksAsTheReferenceDoes) {
  for (const auto& [shape, Hk] : kCalls) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const Qkv inputs = inputs_of(shape, {.Hk = Hk, .D = 16, .Dv = 8}, dtype);
      for (const Mask& mask : {Mask(), causal() & window(3000)}) {
        const AttentionOptions options = {.mask = mask, .threads = 3, .target = GetParam()};
        expect_as_reference(inputs, options, attention(inputs.q, inputs.k, inputs.v, options));
      }
    }
  }
}

TEST_P(CutKeys, ServesDocumentsOfWhichOneIsCut) {
  const Qkv inputs = inputs_of({.B = 1, .H = 4, .Tq = 22, .Tk = 5040}, {.Hk = 1, .D = 16, .Dv = 8}, DType::f32);
  const AttentionOptions options = {.mask = causal(),
                                    .ragged = Ragged{.q_offsets = {0, 0, 2, 22}, .k_offsets = {0, 0, 40, 5040}},
                                    .threads = 2,
                                    .target = GetParam()};
  expect_as_reference(inputs, options, attention(inputs.q, inputs.k, inputs.v, options));
}

TEST_P(CutKeys, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const auto& [shape, Hk] : kCalls) {
    const Qkv inputs = inputs_of(shape, {.Hk = Hk, .D = 16, .Dv = 8}, DType::bf16);
    const auto run = [&](int threads) {
      return attention(inputs.q, inputs.k, inputs.v, {.threads = threads, .target = GetParam()}).out.to_vector();
    };
    EXPECT_EQ(run(3), run(1));
  }
}

TEST_P(CutKeys, HasWorkForEveryThread) {
  for (const auto& [shape, Hk] : kCalls) {
    const Qkv inputs = inputs_of(shape, {.Hk = Hk, .D = 16, .Dv = 8}, DType::f32);
    const auto scratch = [&](int threads) {
      return attention_scratch_bytes(inputs.q, inputs.k, inputs.v, {.threads = threads, .target = GetParam()});
    };
    EXPECT_LT(scratch(1), scratch(2));
    EXPECT_LT(scratch(2), scratch(4));
  }
}

}  // namespace
}  // namespace qkv::testing_attention::cut_keys_test
