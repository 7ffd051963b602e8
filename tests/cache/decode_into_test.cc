// Decoding into memory of the caller's, and where that may not lie.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attention/fused_call.h"
#include "core/error_message.h"
#include "qkv/decode.h"

namespace qkv::testing_attention::decode_into_test {
namespace {

std::vector<std::string> all_targets() {
  std::vector<std::string> names = fused_targets();
  names.emplace_back("reference");
  return names;
}

class DecodeInto : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, DecodeInto, testing::ValuesIn(all_targets()),
                         [](const auto& target) { return target.param; });

// [B, T, H * D] with room around each row, as a layer has it; lse as [B, T, H].
TEST_P(DecodeInto, WritesWhatDecodeGivesAndNothingBetween) {
  constexpr float kUntouched = -12345;
  const Qkv plain = inputs_of({.B = 2, .H = 4, .Tq = 3, .Tk = 90}, {.Hk = 2, .D = 8, .Dv = 6}, DType::f32);
  KvCache cache(KvPages({.format = {.Hk = 2, .D = 8, .Dv = 6}, .pages = 12, .page_tokens = 16}), 2);
  cache.append(plain.k, plain.v);
  cache.truncate(1, 20);
  std::vector<float> block(2 * 3 * 40, kUntouched);
  std::vector<float> lse_block(2 * 3 * 4, kUntouched);
  const MutableTensorView out(block.data() + 5, DType::f32, {2, 4, 3, 6}, {3 * 40, 8, 40, 1});
  const MutableTensorView lse(lse_block.data(), DType::f32, {2, 4, 3}, {12, 1, 4});
  const AttentionOptions options = {.mask = causal(), .target = GetParam()};
  const AttentionResult expected = decode(plain.q, cache, options);
  decode_into(out, lse, plain.q, cache, options);
  EXPECT_EQ(out.view().to_vector(), expected.out.to_vector());
  EXPECT_EQ(lse.view().to_vector(), expected.lse.to_vector());
  EXPECT_EQ(std::ranges::count(block, kUntouched), block.size() - static_cast<std::size_t>(out.size()));
  EXPECT_EQ(std::ranges::count(lse_block, kUntouched), 0);
}

TEST_P(DecodeInto, NamesItselfWhereScratchIsTooSmall) {
  const Tensor x(DType::f32, {1, 2, 1, 8});
  KvCache cache({.format = {.Hk = 2, .D = 8}, .B = 1, .capacity = 1});
  cache.append(x, x);
  AttentionOptions options = {.target = GetParam()};
  const std::size_t bytes = decode_scratch_bytes(x, cache, options);
  if (bytes == 0) GTEST_SKIP() << "this target needs no scratch";
  std::vector<std::byte> scratch(bytes - 1);
  options.scratch = scratch;
  Tensor out(DType::f32, {1, 2, 1, 8});
  Tensor lse(DType::f32, {1, 2, 1});
  EXPECT_EQ(
      error_message([&] { decode_into(out, lse, x, cache, options); }),
      "decode_into: scratch: expected " + std::to_string(bytes) + " bytes or more, got " + std::to_string(bytes - 1));
}

// Everything in one block, so that a test can let two views reach over the same bytes: q from byte 0, k from 32, v from
// 64, scales from 96 and 128, out from 192, lse from 224.
class DecodeRefused : public testing::Test {
 protected:
  [[nodiscard]] float* at(std::size_t byte) { return std::span(block_).subspan(byte / sizeof(float)).data(); }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t first, std::size_t count) {
    return std::as_writable_bytes(std::span(block_)).subspan(first, count);
  }
  [[nodiscard]] KvCacheView cache() {
    return {{.k = {at(32), DType::i8, {2, 1, 1, 2}, {2, 2, 2, 1}},
             .v = {at(64), DType::i8, {2, 1, 1, 2}, {2, 2, 2, 1}},
             .k_scales = {at(96), {2, 1, 1}},
             .v_scales = {at(128), {2, 1, 1}}},
            table_,
            {1}};
  }
  [[nodiscard]] std::string message(const MutableTensorView& out, const MutableTensorView& lse,
                                    std::span<std::byte> scratch = {}) {
    const std::vector<float> before = block_;
    std::string text =
        error_message([&] { decode_into(out, lse, TensorView(at(0), {1, 1, 1, 2}), cache(), {.scratch = scratch}); });
    EXPECT_EQ(block_, before) << "something was written";
    return text;
  }
  static std::string overlap(std::string_view one, std::string_view other) {
    return "decode_into: " + std::string(one) + ": expected memory apart from that of " + std::string(other) +
           ", got some that reaches over the same bytes";
  }

  std::vector<float> block_ = std::vector<float>(64, 1);
  Tensor table_ = Tensor(DType::i32, {1, 1});
  MutableTensorView out_ = {at(192), {1, 1, 1, 2}};
  MutableTensorView lse_ = {at(224), {1, 1, 1}};
};

TEST_F(DecodeRefused, ScratchOverWhatTheCallReads) {
  EXPECT_EQ(message(out_, lse_, bytes(7, 20)), overlap("scratch", "q"));
  EXPECT_EQ(message(out_, lse_, bytes(35, 20)), overlap("scratch", "the cache's k"));
  EXPECT_EQ(message(out_, lse_, bytes(50, 15)), overlap("scratch", "the cache's v"));
  EXPECT_EQ(message(out_, lse_, bytes(103, 9)), overlap("scratch", "the cache's k_scales"));
  EXPECT_EQ(message(out_, lse_, bytes(120, 9)), overlap("scratch", "the cache's v_scales"));
  EXPECT_EQ(message(out_, lse_, std::as_writable_bytes(table_.values<std::int32_t>())),
            overlap("scratch", "the cache's page_table"));
}

TEST_F(DecodeRefused, OutputsOverInputsOrEachOther) {
  EXPECT_EQ(message({at(4), {1, 1, 1, 2}}, lse_), overlap("out", "q"));
  EXPECT_EQ(message({at(32), {1, 1, 1, 2}}, lse_), overlap("out", "the cache's k"));
  EXPECT_EQ(message(out_, {at(64), {1, 1, 1}}), overlap("lse", "the cache's v"));
  EXPECT_EQ(message(out_, {at(196), {1, 1, 1}}), overlap("lse", "out"));
  EXPECT_EQ(message(out_, lse_, bytes(220, 8)), overlap("scratch", "lse"));
}

TEST_F(DecodeRefused, AnotherShapeOrType) {
  EXPECT_EQ(message({at(192), {1, 1, 1, 3}}, lse_),
            "decode_into: out: expected the shape [1, 1, 1, 2], got [1, 1, 1, 3]");
  Tensor narrow(DType::f16, {1, 1, 1});
  EXPECT_EQ(message(out_, narrow), "decode_into: lse: expected f32 or f64, got f16");
  EXPECT_EQ(message({at(192), DType::f32, {1, 1, 1, 2}, {2, 2, 2, 2}}, lse_),
            "decode_into: out: expected a last stride of 1, got [2, 2, 2, 2]");
}

TEST_F(DecodeRefused, ByDecodeToo) {
  EXPECT_EQ(error_message([&] { (void)decode(TensorView(at(0), {1, 1, 1, 2}), cache(), {.scratch = bytes(34, 100)}); }),
            "decode: scratch: expected memory apart from that of the cache's k, got some that reaches over the same "
            "bytes");
}

}  // namespace
}  // namespace qkv::testing_attention::decode_into_test
