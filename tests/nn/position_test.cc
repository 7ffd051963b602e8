#include "qkv/nn/position.h"

#include "nn/fixture.h"

namespace qkv::nn {
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

TEST(LearnedPositions, LooksUpRows) {
  const LearnedPositions positions(Tensor(std::vector<float>{0, 1, 2, 3, 4, 5}, {3, 2}));
  EXPECT_EQ(positions.forward(2).to_vector(), (std::vector<double>{0, 1, 2, 3}));
  const Tensor wanted(std::vector<std::int64_t>{2, 0}, {1, 2});
  EXPECT_EQ(positions.forward(wanted).shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(positions.forward(wanted).to_vector(), (std::vector<double>{4, 5, 0, 1}));
}

TEST(LearnedPositions, DrawsANormalOfStandardDeviationTwoHundredths) {
  Generator a(4);
  Generator b(4);
  const LearnedPositions positions(3, 2, a, DType::f64);
  const std::vector<double> plain = b.randn({3, 2}, DType::f64).to_vector();
  const std::vector<double> drawn = positions.table().to_vector();
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(drawn[i], 0.02 * plain[i]);
}

TEST(LearnedPositions, NamesThePositionAndTheTable) {
  const LearnedPositions positions(Tensor(DType::f32, {512, 2}));
  EXPECT_EQ(message_of([&] { (void)positions.forward(513); }),
            "LearnedPositions: T: expected 0 to 512 (the table's length), got 513");
  EXPECT_EQ(message_of([&] { (void)positions.forward(Tensor(std::vector<std::int64_t>{512}, {1})); }),
            "LearnedPositions: positions: expected 0 to 511 (a table of 512 rows), got 512");
  EXPECT_EQ(message_of([] { (void)LearnedPositions(Tensor(DType::f32, {512})); }),
            "LearnedPositions: table: expected rank 2 with extents of 1 or more, got [512]");
  Generator generator(1);
  EXPECT_EQ(message_of([&] { (void)LearnedPositions(0, 2, generator); }),
            "LearnedPositions: length: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::nn
