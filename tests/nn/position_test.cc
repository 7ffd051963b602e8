#include "qkv/nn/position.h"

#include "nn/fixture.h"

namespace qkv::nn::position_test {
namespace {

TEST(Sinusoidal, PairsSineAndCosineOfOneAngle) {
  const Tensor table = sinusoidal(5, 6);
  for (std::int64_t t = 0; t < 5; ++t) {
    for (std::int64_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6.0);
      EXPECT_EQ(table.at({t, 2 * i}), std::sin(angle));
      EXPECT_EQ(table.at({t, 2 * i + 1}), std::cos(angle));
    }
  }
}

TEST(Sinusoidal, AnOddWidthEndsOnASine) {
  const Tensor table = sinusoidal(3, 5, 100.0);
  EXPECT_EQ(table.shape(), (Shape{3, 5}));
  EXPECT_EQ(table.at({2, 4}), std::sin(2.0 / std::pow(100.0, 4.0 / 5.0)));
  EXPECT_EQ(sinusoidal(4, 1).at({3, 0}), std::sin(3.0));
}

TEST(Sinusoidal, IsDefinedForNoTokens) { EXPECT_EQ(sinusoidal(0, 4).shape(), (Shape{0, 4})); }

TEST(Sinusoidal, NamesWhatCannotBe) {
  EXPECT_EQ(message_of([] { (void)sinusoidal(-1, 4); }), "sinusoidal: T: expected 0 or more, got -1");
  EXPECT_EQ(message_of([] { (void)sinusoidal(4, 0); }), "sinusoidal: d_model: expected 1 or more, got 0");
  EXPECT_EQ(message_of([] { (void)sinusoidal(4, 4, -1.0); }), "sinusoidal: base: expected a positive number, got -1");
  EXPECT_EQ(message_of([] { (void)sinusoidal(4, 4, 1e4, DType::i64); }),
            "sinusoidal: dtype: expected f64, f32, f16 or bf16, got i64");
}

}  // namespace
}  // namespace qkv::nn::position_test
