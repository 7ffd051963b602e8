// Products with quantised weights, by each set of loops that this machine runs.
#include "kernels/product/quantised.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/error_message.h"
#include "core/random_blocks.h"
#include "kernels/product/quantised_loops.h"
#include "qkv/targets.h"
#include "qkv/threads.h"

namespace qkv::kernels::quantised_test {

extern const QuantisedLoops kOtherForm;
extern const QuantisedLoops kEmulatedTiles;

namespace {

using core::BlockType;

struct Set {
  std::string name;
  const QuantisedLoops* loops;
};

bool runs(std::string_view name) {
  const std::vector<CpuTarget> targets = cpu_targets();
  const auto found = std::ranges::find(targets, name, &CpuTarget::name);
  return found != targets.end() && found->runs_here;
}

std::vector<Set> sets() {
  std::vector<Set> all = {{"baseline", &baseline::kQuantised}};
#if defined(QKV_BUILDS_NEON)
  if (runs("neon")) all.push_back({"neon", &neon::kQuantised});
#endif
#if defined(QKV_BUILDS_NEONDOT)
  if (runs("neondot")) all.push_back({"neondot", &neondot::kQuantised});
#endif
#if defined(QKV_BUILDS_NEONI8MM)
  if (runs("neoni8mm")) all.push_back({"neoni8mm", &neoni8mm::kQuantised});
#endif
#if defined(QKV_BUILDS_AVX2)
  if (runs("avx2")) all.push_back({"avx2", &avx2::kQuantised});
#endif
#if defined(QKV_BUILDS_AVX2VNNI)
  if (runs("avx2vnni")) all.push_back({"avx2vnni", &avx2vnni::kQuantised});
#endif
#if defined(QKV_BUILDS_AVX512)
  if (runs("avx512")) all.push_back({"avx512", &avx512::kQuantised});
#endif
#if defined(QKV_BUILDS_AVX512VNNI)
  if (runs("avx512vnni")) all.push_back({"avx512vnni", &avx512vnni::kQuantised});
#endif
#if defined(QKV_BUILDS_AMX)
  if (runs("amx")) all.push_back({"amx", &amx::kQuantised});
#endif
#if defined(__x86_64__)
  if (runs("avx512vnni")) all.push_back({"emulated_tiles", &kEmulatedTiles});
  if (runs("avx512vnni")) all.push_back({"avx2vnni_as_avx512", &kOtherForm});
#endif
  return all;
}

class QuantisedBy : public testing::TestWithParam<Set> {};

INSTANTIATE_TEST_SUITE_P(Sets, QuantisedBy, testing::ValuesIn(sets()), [](const auto& set) { return set.param.name; });

// With scales of the order of 1.
struct Weight {
  Weight(BlockType type, std::int64_t N, std::int64_t K)
      : view{.type = type, .N = N, .K = K, .blocks = nullptr}, bytes(tests::random_blocks(type, N, K)) {
    view.blocks = bytes.data();
    for (std::int64_t n = 0; n < N; ++n) {
      rows.emplace_back(static_cast<std::size_t>(K));
      dequantise_row(view, n, rows.back().data());
    }
  }

  QuantisedWeight view;
  std::vector<std::byte> bytes;
  std::vector<std::vector<float>> rows;
};

Tensor normal(std::uint64_t seed, const Shape& shape) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> all(static_cast<std::size_t>(shape.product()));
  for (float& number : all) number = draw(engine);
  return Tensor(all, shape);
}

// Whole numbers up to 127 times a power of two, the largest in each group: in 8 bits they are exact.
Tensor of_8_bits(std::int64_t M, std::int64_t K) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(M * 1000 + K));
  std::uniform_int_distribution<int> draw(-127, 127);
  std::vector<float> all(static_cast<std::size_t>(M * K));
  for (std::size_t n = 0; n < all.size(); ++n) {
    const float unit = std::ldexp(1.0F, static_cast<int>(n / 16 % 3) - 5);
    all[n] = unit * static_cast<float>(n % 16 == 3 ? 127 : draw(engine));
  }
  return Tensor(all, {M, K});
}

// Of 32 numbers one scale serves, so both halves have the same unit.
Tensor of_8_bits_of(BlockType type, std::int64_t M, std::int64_t K) {
  Tensor x = of_8_bits(M, K);
  const bool is_of_16 = type == BlockType::q2_k || type == BlockType::q3_k || type == BlockType::q6_k;
  if (is_of_16) return x;
  const std::span<float> all = x.values<float>();
  for (std::size_t n = 0; n < all.size(); ++n) {
    const float unit = std::ldexp(1.0F, static_cast<int>(n / 16 % 3));
    all[n] *= std::ldexp(1.0F, static_cast<int>(n / 32 % 3)) / unit;
  }
  return x;
}

enum class Error : std::uint8_t { of_f32, of_8_bits };

// Of 32 numbers of a row.
struct Group {
  double largest = 0;  // of their sizes
  double total = 0;
};

std::vector<Group> groups_of(std::span<const float> row) {
  std::vector<Group> groups(row.size() / 32);
  for (std::size_t k = 0; k < row.size(); ++k) {
    const double size = std::fabs(row[k]);
    Group& group = groups[k / 32];
    group.largest = std::max(group.largest, size);
    group.total += size;
  }
  return groups;
}

// What is one for all products of a row of x with rows of the weight is found once.
void expect_product(const Tensor& out, const Tensor& x, const Weight& weight, const TensorView* bias, Error error) {
  const auto K = static_cast<std::size_t>(weight.view.K);
  std::vector<std::vector<Group>> of_weight;
  for (const std::vector<float>& row : weight.rows) of_weight.push_back(groups_of(row));
  for (std::int64_t m = 0; m < x.dim(0); ++m) {
    const std::span<const float> left = x.values<float>().subspan(static_cast<std::size_t>(m) * K, K);
    const std::vector<Group> of_x = groups_of(left);
    for (std::int64_t n = 0; n < weight.view.N; ++n) {
      const std::vector<float>& row = weight.rows[static_cast<std::size_t>(n)];
      const std::vector<Group>& of_row = of_weight[static_cast<std::size_t>(n)];
      double sum = bias == nullptr ? 0 : bias->at({n});
      double size = std::fabs(sum);
      double by_8_bits = 0;
      for (std::size_t k = 0; k < K; ++k) sum += static_cast<double>(left[k]) * static_cast<double>(row[k]);
      for (std::size_t group = 0; group < of_row.size(); ++group) {
        // Scale times number and minimum are a few times as large as the largest of their sums.
        size += 5 * of_x[group].total * of_row[group].largest;
        by_8_bits += of_x[group].largest / 127 / 2 * of_row[group].total;
      }
      // Groups are summed in 16 lanes.
      const double of_f32 = 0x1p-24 * static_cast<double>(K / 64 + 12) * size;
      const double allowed = of_f32 + (error == Error::of_8_bits ? 1.001 * by_8_bits : 0);
      ASSERT_NEAR(out.view().at({m, n}), sum, allowed) << "row " << m << ", column " << n << " of " << K;
    }
  }
}

std::vector<std::int64_t> lengths_of(BlockType type) {
  if (core::layout_of(type).numbers == 256) return {256, 768};
  return {32, 96, 256, 288, 544};
}

// One row, a few, and many; all multiples of what loops do at a time and none.
TEST_P(QuantisedBy, IsTheProductWhereNumbersOf8BitsAreExact) {
  for (const BlockType type : tests::block_types()) {
    for (const std::int64_t K : lengths_of(type)) {
      for (const std::int64_t N : {1, 35, 70}) {
        const Weight weight(type, N, K);
        const Tensor bias = normal(3, {N});
        const TensorView shift = bias.view();
        for (const std::int64_t M : {1, 3, 4, 8, 9, 16, 19}) {
          SCOPED_TRACE(std::string(core::layout_of(type).name) + ", " + std::to_string(M) + " rows");
          const Tensor x = of_8_bits_of(type, M, K);
          const TensorView* added = M % 2 == 0 ? nullptr : &shift;
          Tensor out(DType::f32, {M, N});
          multiply_by(*GetParam().loops, out, x.view(), weight.view, added);
          expect_product(out, x, weight, added, Error::of_f32);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(QuantisedBy, ErrsNoMoreThanNumbersOf8BitsMust) {
  for (const BlockType type : tests::block_types()) {
    for (const std::int64_t M : {1, 5, 24}) {
      SCOPED_TRACE(std::string(core::layout_of(type).name) + ", " + std::to_string(M) + " rows");
      const Weight weight(type, 33, 512);
      const Tensor x = normal(1, {M, 512});
      Tensor out(DType::f32, {M, 33});
      multiply_by(*GetParam().loops, out, x.view(), weight.view, nullptr);
      expect_product(out, x, weight, nullptr, Error::of_8_bits);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(QuantisedBy, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  for (const BlockType type : tests::block_types()) {
    const Weight weight(type, 333, 1024);
    for (const std::int64_t M : {1, 7, 40}) {
      const Tensor x = normal(1, {M, 1024});
      std::vector<double> alone;
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        Tensor out(DType::f32, {M, 333});
        multiply_by(*GetParam().loops, out, x.view(), weight.view, nullptr);
        if (count == 1) alone = out.to_vector();
        EXPECT_EQ(out.to_vector(), alone) << core::layout_of(type).name << ", rows: " << M << ", threads: " << count;
      }
    }
  }
  set_threads(before);
}

TEST_P(QuantisedBy, TakesZerosAndTheSmallestAndLargestNumbers) {
  const Weight weight(BlockType::q8_0, 20, 64);
  for (const std::int64_t M : {2, 12}) {
    for (const float number : {0.0F, 1e-45F, 0x1p-101F, 1e30F}) {
      const Tensor x(std::vector<float>(static_cast<std::size_t>(M * 64), number), {M, 64});
      Tensor out(DType::f32, {M, 20});
      multiply_by(*GetParam().loops, out, x.view(), weight.view, nullptr);
      if (number < 0x1p-100F) {
        EXPECT_THAT(out.to_vector(), testing::Each(0)) << number;
      } else {
        expect_product(out, x, weight, nullptr, Error::of_8_bits);
      }
    }
  }
}

TEST_P(QuantisedBy, MakesARowNaNThatHoldsNaNOrInfinity) {
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_k, BlockType::q6_k}) {
    const Weight weight(type, 20, 256);
    for (const std::int64_t M : {3, 12}) {
      for (const float number : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        Tensor x = normal(1, {M, 256});
        x.values<float>()[256 + 70] = number;
        Tensor out(DType::f32, {M, 20});
        multiply_by(*GetParam().loops, out, x.view(), weight.view, nullptr);
        for (std::int64_t m = 0; m < M; ++m) {
          for (std::int64_t n = 0; n < 20; ++n) EXPECT_EQ(std::isnan(out.view().at({m, n})), m == 1) << m << ", " << n;
        }
      }
    }
  }
}

#if defined(QKV_BUILDS_AVX512) && defined(QKV_BUILDS_AVX512VNNI)
// The same sums in the same order, but for fewer than 16 rows.
TEST(Quantised, HasTheBitsOfAvx512OnTheTileUnit) {
  if (!runs("avx512vnni")) GTEST_SKIP() << "the rest of the emulated tile unit needs AVX-512 with VNNI";
  for (const BlockType type : tests::block_types()) {
    const Weight weight(type, 83, 768);
    for (const std::int64_t M : {15, 16, 17, 31, 50}) {
      const Tensor x = normal(1, {M, 768});
      Tensor tiles(DType::f32, {M, 83});
      Tensor vectors(DType::f32, {M, 83});
      multiply_by(kEmulatedTiles, tiles, x.view(), weight.view, nullptr);
      multiply_by(M < 16 ? avx512vnni::kQuantised : avx512::kQuantised, vectors, x.view(), weight.view, nullptr);
      EXPECT_EQ(tiles.to_vector(), vectors.to_vector()) << core::layout_of(type).name << ", " << M << " rows";
    }
  }
}
#endif

#if defined(QKV_BUILDS_NEONDOT) && defined(QKV_BUILDS_NEONI8MM)
TEST(Quantised, HasTheBitsOfDotProductsInQuads) {
  if (!runs("neoni8mm")) GTEST_SKIP() << "no i8mm here";
  for (const BlockType type : tests::block_types()) {
    const Weight weight(type, 83, 768);
    for (const std::int64_t M : {1, 7, 8, 18, 27}) {
      const Tensor x = normal(1, {M, 768});
      Tensor quads(DType::f32, {M, 83});
      Tensor dots(DType::f32, {M, 83});
      multiply_by(neoni8mm::kQuantised, quads, x.view(), weight.view, nullptr);
      multiply_by(neondot::kQuantised, dots, x.view(), weight.view, nullptr);
      EXPECT_EQ(quads.to_vector(), dots.to_vector()) << core::layout_of(type).name << ", " << M << " rows";
    }
  }
}
#endif

TEST(Quantised, TakesAndGivesNumbersOf16Bits) {
  const Weight weight(BlockType::q5_0, 40, 96);
  const Tensor x = of_8_bits_of(BlockType::q5_0, 5, 96);
  const Tensor bias = normal(3, {40});
  const TensorView shift = bias.view();
  Tensor expected(DType::f32, {5, 40});
  multiply_quantised("linear", expected, x.view(), weight.view, &shift);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor rows = x.to(dtype);  // exact: at most seven bits
    Tensor out(dtype, {5, 40});
    multiply_quantised("linear", out, rows.view(), weight.view, &shift);
    EXPECT_EQ(out.to_vector(), expected.to(dtype).to_vector());
  }
}

TEST(Quantised, IsHeldAgainstTheWeightInF32) {
  const Weight weight(BlockType::q3_k, 9, 256);
  const Tensor x = normal(1, {3, 256});
  const Tensor bias = normal(3, {9});
  const TensorView shift = bias.view();
  Tensor out(DType::f32, {3, 9});
  multiply_dequantised(out, x.view(), weight.view, &shift);
  expect_product(out, x, weight, &shift, Error::of_f32);
}

TEST(Quantised, HasNoRowsOfNothing) {
  const Weight weight(BlockType::q8_0, 20, 64);
  Tensor out(DType::f32, {0, 20});
  EXPECT_NO_THROW(multiply_quantised("linear", out, Tensor(DType::f32, {0, 64}).view(), weight.view));
  EXPECT_EQ(error_message([&] { multiply_quantised("linear", out, Tensor(DType::f32, {0, 63}).view(), weight.view); }),
            "linear: x: expected [M, 64], got [0, 63]");
}

TEST(Quantised, RefusesWhatDoesNotFit) {
  const Weight weight(BlockType::q4_k, 20, 256);
  Tensor out(DType::f32, {2, 20});
  const Tensor x = normal(1, {2, 255});
  EXPECT_EQ(error_message([&] { multiply_quantised("linear", out, x.view(), weight.view); }),
            "linear: x: expected [M, 256], got [2, 255]");
  const Tensor good = normal(1, {2, 256});
  const Tensor bias = normal(3, {19});
  const TensorView shift = bias.view();
  EXPECT_EQ(error_message([&] { multiply_quantised("linear", out, good.view(), weight.view, &shift); }),
            "linear: bias: expected [20], got [19]");
  Tensor narrow(DType::f32, {2, 19});
  EXPECT_EQ(error_message([&] { multiply_quantised("linear", narrow, good.view(), weight.view); }),
            "linear: out: expected [2, 20], got [2, 19]");
  QuantisedWeight cut = weight.view;
  cut.K = 255;
  EXPECT_EQ(error_message([&] { multiply_quantised("linear", out, x.view(), cut); }),
            "linear: weight: expected rows of whole blocks of 256, as Q4_K has, got rows of 255");
}

}  // namespace
}  // namespace qkv::kernels::quantised_test
