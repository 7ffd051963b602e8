// Calls cut into windows of queries and keys are the whole call.
#include "cases/windows.h"

#include <gmock/gmock.h>

#include <array>
#include <random>

#include "cases/random_case.h"

namespace qkv::cases::windows_test {
namespace {

// Calls of any kind, the same in every run.
template <class Body>
void for_each_random_case(std::uint64_t seed, int count, const Body& body) {
  std::mt19937_64 engine(seed);
  constexpr std::int64_t kMostProducts = 4'000'000;  // a fraction of a second each
  for (int n = 0; n < count; ++n) {
    std::array<std::uint8_t, kCaseBytes> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine());
    Case one = case_from(bytes);
    if (one.B * one.Hq() * one.Tq * one.Tk * one.D <= kMostProducts) body(one);
  }
}

TEST(Windows, MergeToTheWholeCall) {
  for_each_random_case(4, 300, [](Case one) {
    one.cache = Cache::none;
    EXPECT_EQ(windows_fault(one), "") << to_text(one);
  });
}

TEST(Windows, OfCachesMergeToTheWholeCall) {
  for_each_random_case(6, 300, [](Case one) {
    if (one.cache == Cache::none) one.cache = static_cast<Cache>(1 + one.seed % (kCaches - 1));
    EXPECT_EQ(windows_fault(one), "") << to_text(one);
  });
}

TEST(Windows, HaveTheWholeCallsGradients) {
  for_each_random_case(5, 150, [](Case one) {
    one.cache = Cache::none;
    one.values = Values::normal;
    one.specials = 0;
    EXPECT_EQ(window_gradients_fault(one), "") << to_text(one);
  });
}

}  // namespace
}  // namespace qkv::cases::windows_test
