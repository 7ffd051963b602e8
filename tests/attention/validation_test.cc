// What attention() refuses, and in which words.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/error_message.h"
#include "qkv/attention.h"

namespace qkv::validation_test {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor f32(const Shape& shape) { return {DType::f32, shape}; }

std::string message(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {}) {
  return error_message([&] { static_cast<void>(attention(q, k, v, options)); });
}

std::string message(const AttentionOptions& options) {
  return message(f32({1, 2, 3, 4}), f32({1, 2, 5, 4}), f32({1, 2, 5, 6}), options);
}

TEST(Validation, WantsFourAxes) {
  const Tensor x = f32({1, 2, 3, 4});
  const Tensor flat = f32({2, 3, 4});
  EXPECT_EQ(message(flat, x, x), "attention: q: expected a shape [B, Hq, Tq, D], got [2, 3, 4]");
  EXPECT_EQ(message(x, flat, x), "attention: k: expected a shape [B, Hk, Tk, D], got [2, 3, 4]");
  EXPECT_EQ(message(x, x, flat), "attention: v: expected a shape [B, Hk, Tk, Dv], got [2, 3, 4]");
}

TEST(Validation, WantsOneFloatingDtype) {
  const Tensor x = f32({1, 2, 3, 4});
  const Tensor half(DType::f16, {1, 2, 3, 4});
  EXPECT_EQ(message(Tensor(DType::i32, {1, 2, 3, 4}), x, x), "attention: q: expected f64, f32, f16 or bf16, got i32");
  EXPECT_EQ(message(x, half, x), "attention: k: expected f32 as q, got f16");
  EXPECT_EQ(message(x, x, half), "attention: v: expected f32 as k, got f16");
}

TEST(Validation, WantsExtentsThatAgree) {
  const Tensor q = f32({2, 4, 3, 8});
  const Tensor k = f32({2, 2, 5, 8});
  const Tensor v = f32({2, 2, 5, 6});
  EXPECT_EQ(message(q, f32({1, 2, 5, 8}), v), "attention: k: expected B = 2 as in q [2, 4, 3, 8], got [1, 2, 5, 8]");
  EXPECT_EQ(message(q, f32({2, 2, 5, 7}), v), "attention: k: expected D = 8 as in q [2, 4, 3, 8], got [2, 2, 5, 7]");
  EXPECT_EQ(message(q, f32({2, 3, 5, 8}), v), "attention: k: expected Hk that divides Hq = 4, got Hk = 3");
  EXPECT_EQ(message(q, k, f32({1, 2, 5, 6})), "attention: v: expected B = 2 as in k [2, 2, 5, 8], got [1, 2, 5, 6]");
  EXPECT_EQ(message(q, k, f32({2, 4, 5, 6})), "attention: v: expected Hk = 2 as in k [2, 2, 5, 8], got [2, 4, 5, 6]");
  EXPECT_EQ(message(q, k, f32({2, 2, 4, 6})), "attention: v: expected Tk = 5 as in k [2, 2, 5, 8], got [2, 2, 4, 6]");
}

TEST(Validation, WantsAHeadAndAWidth) {
  const Tensor q = f32({1, 2, 3, 4});
  EXPECT_EQ(message(f32({1, 0, 3, 4}), q, q), "attention: q: expected Hq >= 1 in [B, Hq, Tq, D], got [1, 0, 3, 4]");
  EXPECT_EQ(message(f32({1, 2, 3, 0}), q, q), "attention: q: expected D >= 1 in [B, Hq, Tq, D], got [1, 2, 3, 0]");
  EXPECT_EQ(message(q, f32({1, 0, 3, 4}), q), "attention: k: expected Hk >= 1 in [B, Hk, Tk, D], got [1, 0, 3, 4]");
}

TEST(Validation, WantsNumbersThatMeanSomething) {
  EXPECT_EQ(message({.scale = std::nan("")}), "attention: scale: expected a finite number, got nan");
  EXPECT_EQ(message({.scale = kInfinity}), "attention: scale: expected a finite number, got inf");
  EXPECT_EQ(message({.softcap = 0.0}), "attention: softcap: expected a finite number > 0, got 0");
  EXPECT_EQ(message({.softcap = -0.5}), "attention: softcap: expected a finite number > 0, got -0.5");
  EXPECT_EQ(message({.softcap = std::nan("")}), "attention: softcap: expected a finite number > 0, got nan");
  EXPECT_EQ(message({.dropout = Dropout{.p = 1.0}}), "attention: dropout: expected 0 <= p < 1, got p = 1");
  EXPECT_EQ(message({.dropout = Dropout{.p = -1e-9}}), "attention: dropout: expected 0 <= p < 1, got p = -1e-09");
  EXPECT_EQ(message({.dropout = Dropout{.p = std::nan("")}}), "attention: dropout: expected 0 <= p < 1, got p = nan");
}

TEST(Validation, WantsAThread) {
  EXPECT_EQ(message({.threads = 0}), "attention: threads: expected 1 or more, got 0");
  EXPECT_EQ(message({.threads = -1}), "attention: threads: expected 1 or more, got -1");
}

TEST(Validation, WantsMasksAndBiasesThatFit) {
  EXPECT_THAT(message({.bias = dense_bias(f32({3, 4}))}), HasSubstr("[3, 4]"));
  EXPECT_THAT(message({.mask = dense(Tensor(DType::b8, {3, 4}))}), HasSubstr("[3, 4]"));
  EXPECT_THAT(message({.mask = key_lengths({1, 2, 3})}), HasSubstr("3"));
}

TEST(Validation, HoldsForTheStagesToo) {
  const Tensor x = f32({1, 2, 3, 4});
  const auto stage = [&](const Tensor& k, DType dtype) {
    return error_message([&] { static_cast<void>(attention_stage(x, k, {}, Stage::raw, dtype)); });
  };
  EXPECT_EQ(stage(f32({1, 2, 3, 5}), DType::f64),
            "attention_stage: k: expected D = 4 as in q [1, 2, 3, 4], got [1, 2, 3, 5]");
  EXPECT_EQ(stage(x, DType::i32), "attention_stage: dtype: expected f64, f32, f16 or bf16, got i32");
}

}  // namespace
}  // namespace qkv::validation_test
