#include "qkv/bias.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error_message.h"

namespace qkv::bias_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of one head, by at() and by add_row(), which must agree.
std::vector<std::vector<double>> rows_of(const Bias& bias, const MaskShape& shape, std::int64_t b = 0,
                                         std::int64_t h = 0) {
  bias.validate(shape);
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < shape.Tq; ++i) {
    std::vector<double> row(static_cast<std::size_t>(shape.Tk));
    bias.add_row({b, h, i, 0}, row, shape);
    for (std::int64_t j = 0; j < shape.Tk; ++j) {
      EXPECT_EQ(row[static_cast<std::size_t>(j)], bias.at({b, h, i, j}, shape));
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(Bias, IsZeroByDefault) {
  EXPECT_TRUE(Bias().is_zero());
  EXPECT_THAT(rows_of(Bias(), {.Tq = 1, .Tk = 2}), ElementsAre(ElementsAre(0, 0)));
  EXPECT_FALSE(alibi().is_zero());
  EXPECT_TRUE((Bias() + Bias()).is_zero());
  EXPECT_EQ((alibi() + Bias()).to_string(), "alibi");
}

TEST(Alibi, SlopesOfAPowerOfTwoAreOneGeometricSeries) {
  EXPECT_THAT(alibi_slopes(1), ElementsAre(DoubleEq(1.0 / 256)));
  EXPECT_THAT(alibi_slopes(4), ElementsAre(0.25, 0.0625, 0.015625, 0.00390625));
  EXPECT_THAT(alibi_slopes(8), ElementsAre(1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256));
}

TEST(Alibi, OtherNumbersOfHeadsBorrowFromTheNextPowerOfTwo) {
  const std::vector<double> slopes = alibi_slopes(12);
  const std::vector<double> eight = alibi_slopes(8);
  const std::vector<double> sixteen = alibi_slopes(16);
  ASSERT_EQ(slopes.size(), 12U);
  for (std::size_t h = 0; h < 8; ++h) EXPECT_EQ(slopes[h], eight[h]);
  for (std::size_t h = 8; h < 12; ++h) EXPECT_EQ(slopes[h], sixteen[2 * (h - 8)]);
  EXPECT_DOUBLE_EQ(slopes[8], std::sqrt(0.5));
  EXPECT_THAT(alibi_slopes(3), ElementsAre(0.0625, 0.00390625, 0.25));
  EXPECT_EQ(error_message([] { (void)alibi_slopes(0); }), "alibi_slopes: heads: expected 1 or more, got 0");
}

TEST(Alibi, FallsWithTheDistance) {
  const MaskShape shape{.H = 2, .Tq = 2, .Tk = 3};
  EXPECT_THAT(rows_of(alibi({0.5, 2}), shape, 0, 1), ElementsAre(ElementsAre(-2, 0, -2), ElementsAre(-4, -2, 0)));
  EXPECT_THAT(rows_of(alibi({0.5, 2}, Align::top_left), shape),
              ElementsAre(ElementsAre(0, -0.5, -1), ElementsAre(-0.5, 0, -0.5)));
  EXPECT_THAT(rows_of(alibi(), shape, 0, 1)[1], ElementsAre(-2. / 256, -1. / 256, 0));
}

TEST(Alibi, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { alibi({0.5, 2}).validate({.H = 3}); }),
            "alibi: slopes: expected one for each of 3 heads, got 2");
  EXPECT_EQ(error_message([] { (void)alibi(std::vector<double>{}); }),
            "alibi: slopes: expected one slope or more, got none");
  EXPECT_EQ(error_message([] { (void)alibi({kInfinity}); }), "alibi: slopes: expected finite numbers, got inf");
}

TEST(T5, BucketsAreThoseOfTheReleasedCode) {
  std::ifstream file(QKV_SOURCE_DIR "/tests/mask/fixtures/t5_buckets.txt");
  ASSERT_TRUE(file) << "tests/mask/fixtures/t5_buckets.txt is missing";
  int settings = 0;
  for (std::string line; std::getline(file, line); ++settings) {
    std::istringstream numbers(line);
    T5Buckets buckets;
    int bidirectional = 0;
    numbers >> buckets.buckets >> buckets.max_distance >> bidirectional;
    buckets.bidirectional = bidirectional != 0;
    for (std::int64_t relative = -300; relative <= 300; ++relative) {
      std::int64_t expected = -1;
      ASSERT_TRUE(numbers >> expected) << line.substr(0, 20);
      EXPECT_EQ(t5_bucket(relative, buckets), expected) << line.substr(0, 10) << " at " << relative;
    }
  }
  EXPECT_EQ(settings, 7);
}

// Where a distance is where a bucket begins, a logarithm in f64 falls short of it as often as not.
TEST(T5, BucketsBeginWhereExactArithmeticSays) {
  const T5Buckets nine = {.buckets = 9, .max_distance = 128, .bidirectional = false};  // 4 * 2^n begins bucket 4 + n
  std::int64_t bucket = 4;
  for (const std::int64_t distance : {4, 8, 16, 32, 64}) {
    EXPECT_EQ(t5_bucket(-distance, nine), bucket) << distance;
    EXPECT_EQ(t5_bucket(1 - distance, nine), bucket - 1) << distance - 1;
    ++bucket;
  }
}

// The code of T5 (Raffel et al. 2020), whose logarithms are f32.
TEST(T5, BucketsAreThoseOfItsCode) {
  for (std::int64_t buckets = 4; buckets <= 40; ++buckets) {
    for (const std::int64_t max_distance : {32, 64, 100, 128, 256, 512, 1000}) {
      const T5Buckets one_way = {.buckets = buckets, .max_distance = max_distance, .bidirectional = false};
      const std::int64_t exact = buckets / 2;
      for (std::int64_t distance = exact; distance <= max_distance; ++distance) {
        const float share =
            std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
            static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact))) *
            static_cast<float>(buckets - exact);
        const std::int64_t expected = std::min(exact + static_cast<std::int64_t>(share), buckets - 1);
        EXPECT_EQ(t5_bucket(-distance, one_way), expected) << buckets << ", " << max_distance << ": " << distance;
      }
    }
  }
}

TEST(T5, ReadsTheTableByBucketAndHead) {
  Tensor table(DType::f32, {4, 2});
  for (std::int64_t bucket = 0; bucket < 4; ++bucket) {
    table.set({bucket, 0}, static_cast<double>(bucket));
    table.set({bucket, 1}, static_cast<double>(10 * bucket));
  }
  const MaskShape shape{.H = 2, .Tq = 2, .Tk = 4};
  // With four buckets in two directions, distance 0 has one of its own and all others share theirs, but for 0 ahead.
  const Bias both_ways = t5_bias(table, {.buckets = 4, .max_distance = 8});
  EXPECT_THAT(rows_of(both_ways, shape)[0], ElementsAre(1, 1, 0, 3));
  EXPECT_THAT(rows_of(both_ways, shape, 0, 1)[1], ElementsAre(10, 10, 10, 0));
  const Bias one_way = t5_bias(table, {.buckets = 4, .max_distance = 8, .bidirectional = false}, Align::top_left);
  EXPECT_THAT(rows_of(one_way, shape)[1], ElementsAre(1, 0, 0, 0));
}

TEST(T5, SaysWhatDoesNotFit) {
  const Tensor table(DType::f32, {32, 2});
  EXPECT_EQ(error_message([&] { t5_bias(table).validate({.H = 3}); }),
            "t5_bias: table: expected one column for each of 3 heads, got [32, 2]");
  EXPECT_EQ(error_message([&] { (void)t5_bias(table, {.buckets = 16}); }),
            "t5_bias: table: expected [16, H], got [32, 2]");
  EXPECT_EQ(error_message([] { (void)t5_bias(Tensor(DType::i64, {32, 2})); }),
            "t5_bias: table: expected dtype f64, f32, f16 or bf16, got i64");
  EXPECT_EQ(error_message([] { (void)t5_bucket(1, {.buckets = 2}); }), "t5_bucket: buckets: expected 4 or more, got 2");
  EXPECT_EQ(error_message([] { (void)t5_bucket(1, {.buckets = 1, .bidirectional = false}); }),
            "t5_bucket: buckets: expected 2 or more, got 1");
  EXPECT_EQ(error_message([] { (void)t5_bucket(1, {.buckets = 7}); }),
            "t5_bucket: buckets: expected an even number, half for each direction, got 7");
  EXPECT_EQ(error_message([] { (void)t5_bucket(1, {.max_distance = 8}); }),
            "t5_bucket: max_distance: expected 9 or more, got 8");
}

TEST(T5, TheFarthestDistancesShareTheLastBucket) {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(t5_bucket(kLowest, {}), 15);
  EXPECT_EQ(t5_bucket(std::numeric_limits<std::int64_t>::max(), {}), 31);
  EXPECT_EQ(t5_bucket(kLowest, {.bidirectional = false}), 31);
}

TEST(DenseBias, BroadcastsRightAligned) {
  const MaskShape shape{.B = 2, .H = 2, .Tq = 2, .Tk = 2};
  EXPECT_THAT(rows_of(dense_bias(Tensor(std::vector<float>{1, -2}, {2})), shape, 1, 1),
              ElementsAre(ElementsAre(1, -2), ElementsAre(1, -2)));
  const Bias by_head = dense_bias(Tensor(std::vector<double>{0.1, 0.2}, {2, 1, 1}));
  EXPECT_THAT(rows_of(by_head, shape, 1, 1), ElementsAre(ElementsAre(0.2, 0.2), ElementsAre(0.2, 0.2)));
  const Tensor matrix(std::vector<double>{1, 2, 3, -kInfinity}, {2, 2});
  EXPECT_THAT(rows_of(dense_bias(matrix.view().transpose(0, 1)), shape),
              ElementsAre(ElementsAre(1, 3), ElementsAre(2, -kInfinity)));
}

TEST(DenseBias, HoldsHalvesExactly) {
  const Tensor halves = Tensor(std::vector<double>{0.1, 65504}, {1, 2}).to(DType::f16);
  EXPECT_THAT(rows_of(dense_bias(halves), {.Tq = 1, .Tk = 2})[0],
              ElementsAre(static_cast<double>(static_cast<float>(Half(0.1F))), 65504));
}

TEST(DenseBias, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_message([] { (void)dense_bias(Tensor(DType::b8, {2, 2})); }),
            "dense_bias: values: expected dtype f64, f32, f16 or bf16, got b8");
  EXPECT_EQ(error_message([] { dense_bias(Tensor(DType::f32, {2, 3})).validate({.Tq = 2, .Tk = 2}); }),
            "dense_bias: values: expected a shape that broadcasts to [1, 1, 2, 2], got [2, 3]");
}

TEST(Bias, SumsAddTermByTerm) {
  const Bias bias = alibi({1}) + dense_bias(Tensor(std::vector<double>{10, 20}, {2})) + alibi({1});
  const MaskShape shape{.Tq = 2, .Tk = 2};
  EXPECT_THAT(rows_of(bias, shape), ElementsAre(ElementsAre(10, 18), ElementsAre(8, 20)));
  EXPECT_EQ(bias.to_string(), "alibi(1) + dense([10, 20]) + alibi(1)");
  EXPECT_THAT(error_message([&] { bias.validate({.H = 2, .Tq = 2, .Tk = 2}); }), testing::HasSubstr("alibi: slopes"));
}

}  // namespace
}  // namespace qkv::bias_test
