// Every row of the table on every target.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>

#include "cases/covering.h"
#include "cases/judge.h"

namespace qkv::cases::table_test {
namespace {

// The rows of one dtype and head width.
class Table : public testing::TestWithParam<std::tuple<DType, std::int64_t>> {
 protected:
  static void expect_near(const std::vector<Case>& rows) {
    const auto [dtype, D] = GetParam();
    double logs = 0;
    int count = 0;
    for (const Case& one : rows) {
      if (one.dtype != dtype || one.D != D) continue;
      const Verdict verdict = judge_by_plain(one);
      EXPECT_EQ(verdict.fault, "") << to_text(one);
      logs += std::log(std::clamp(verdict.times, 1.0 / 8, 8.0));
      ++count;
    }
    ASSERT_GT(count, 0);
    // What luck may do to one row, it does not do to all.
    EXPECT_LE(std::exp(logs / count), 2);
  }
};

TEST_P(Table, IsAsNearTheReferenceAsPlainLoopsAre) { expect_near(table()); }

TEST_P(Table, IsAsNearWithFewQueriesAndManyKeys) { expect_near(decode_table()); }

TEST_P(Table, IsAsNearOverACacheOfI8) {
  std::vector<Case> rows = decode_table();
  std::ranges::copy_if(table(), std::back_inserter(rows), [](const Case& one) { return one.seed % 4 == 0; });
  for (Case& one : rows) one.cache = Cache::i8;
  expect_near(rows);
}

INSTANTIATE_TEST_SUITE_P(Cases, Table,
                         testing::Combine(testing::Values(DType::f32, DType::f16, DType::bf16),
                                          testing::Values(1, 7, 16, 64, 80, 96, 128, 192, 256, 512)),
                         [](const auto& chosen) {
                           return std::string(name_of(std::get<0>(chosen.param))) + "_D" +
                                  std::to_string(std::get<1>(chosen.param));
                         });

TEST(CaseText, ReadsBackWhatItWrote) {
  for (const Case& one : table()) EXPECT_EQ(to_text(parse_case(to_text(one))), to_text(one));
  EXPECT_EQ(to_text({.Tq = 3, .softcap = 0.1}), "dtype=f32 Tq=3 softcap=0.10000000000000001");
}

TEST(CaseText, NamesWhatItDoesNotKnow) {
  EXPECT_THROW(static_cast<void>(parse_case("Tq=x")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(parse_case("mask=causel")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(parse_case("length=3")), InvalidArgument);
}

TEST(Table, HoldsEveryPairOfAMaskAndALength) {
  std::set<std::pair<std::string_view, std::int64_t>> seen;
  for (const Case& one : table()) seen.emplace(one.mask, one.Tk);
  EXPECT_EQ(seen.size(), masks().size() * 18);
}

}  // namespace
}  // namespace qkv::cases::table_test
