// The gradients of every row of the table on every target.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "cases/covering.h"
#include "cases/gradients.h"
#include "cases/ragged.h"
#include "cases/random_case.h"

namespace qkv::cases::gradient_test {
namespace {

// The rows of one dtype and head width.
class GradientTable : public testing::TestWithParam<std::tuple<DType, std::int64_t>> {
 protected:
  static void expect_near(const std::vector<Case>& rows) {
    const auto [dtype, D] = GetParam();
    double logs = 0;
    int count = 0;
    for (const Case& one : rows) {
      if (one.dtype != dtype || one.D != D) continue;
      const GradientVerdict verdict = judge_gradients(one);
      EXPECT_EQ(verdict.fault, "") << to_text(one);
      logs += std::log(verdict.times);
      ++count;
    }
    ASSERT_GT(count, 0);
    // What luck may do to one row, it does not do to all.
    EXPECT_LE(std::exp(logs / count), 2);
  }
};

TEST_P(GradientTable, IsAsNearTheReferenceAsPlainLoopsAre) { expect_near(table()); }

TEST_P(GradientTable, IsAsNearWithFewQueriesAndManyKeys) { expect_near(decode_table()); }

INSTANTIATE_TEST_SUITE_P(Cases, GradientTable,
                         testing::Combine(testing::Values(DType::f32, DType::f16, DType::bf16),
                                          testing::Values(1, 7, 16, 64, 80, 96, 128, 192, 256, 512)),
                         [](const auto& chosen) {
                           return std::string(name_of(std::get<0>(chosen.param))) + "_D" +
                                  std::to_string(std::get<1>(chosen.param));
                         });

TEST(GradientBits, AreTheSameOnAnyNumberOfThreads) {
  for (std::size_t n = 0; n < table().size(); n += 13) {
    const Case& one = table()[n];
    const Inputs inputs = Inputs::of(one);
    const Upstream upstream = Upstream::of(one, inputs);
    for (const std::string& target : targets(one.dtype)) {
      const auto bits = bits_of(run_backward_on(target, one, inputs, upstream, 1));
      for (const int threads : {2, 3}) {
        EXPECT_EQ(bits_of(run_backward_on(target, one, inputs, upstream, threads)), bits)
            << target << " on " << threads << " threads: " << to_text(one);
      }
    }
  }
}

TEST(GradientBits, AreTheSameWhereverTheInputsLie) {
  for (std::size_t n = 0; n < table().size(); n += 13) {
    Case one = table()[n];
    one.poison = false;
    one.q = one.k = one.v = one.out = Layout::dense;
    Case other = one;
    other.q = Layout::gapped;
    other.k = Layout::page_rows;
    other.v = Layout::columns;
    other.out = Layout::token_major;
    const Inputs dense = Inputs::of(one);
    const Inputs moved = Inputs::of(other);
    const Upstream dense_upstream = Upstream::of(one, dense);
    const Upstream moved_upstream = Upstream::of(other, moved);
    for (const std::string& target : targets(one.dtype)) {
      EXPECT_EQ(bits_of(run_backward_on(target, one, dense, dense_upstream, 1)),
                bits_of(run_backward_on(target, other, moved, moved_upstream, 1)))
          << target << ": " << to_text(one);
    }
  }
}

// Calls of any kind with ordinary numbers, the same in every run.
template <class Body>
void for_each_random_case(std::uint64_t seed, const Body& body) {
  std::mt19937_64 engine(seed);
  constexpr std::int64_t kMostProducts = 4'000'000;  // a fraction of a second each
  for (int n = 0; n < 100; ++n) {
    std::array<std::uint8_t, kCaseBytes> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
    Case one = case_from(bytes);
    one.values = Values::normal;
    one.cache = Cache::none;  // only tensors have gradients
    one.specials = 0;
    if (one.B * one.Hq() * one.Tq * one.Tk * one.D <= kMostProducts) body(one);
  }
}

TEST(RandomGradients, AreAsNearTheReferenceAsPlainLoopsAre) {
  for_each_random_case(1, [](const Case& one) { EXPECT_EQ(judge_gradients(one).fault, "") << to_text(one); });
}

TEST(RandomGradients, AreNotFiniteWhereTheReferenceIsNot) {
  for_each_random_case(2, [](Case one) {
    one.specials = 1 + static_cast<std::int64_t>(one.seed % 3);
    EXPECT_EQ(gradient_fault(one), "") << to_text(one);
  });
}

TEST(RandomGradients, OfARaggedBatchAreThoseOfItsDocuments) {
  for_each_random_case(3, [](const Case& one) { EXPECT_EQ(ragged_fault(one), "") << to_text(one); });
}

}  // namespace
}  // namespace qkv::cases::gradient_test
