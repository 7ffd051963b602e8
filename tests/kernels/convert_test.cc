// 16 bits to f32 and back, by the loops of each width of vectors: what the types themselves say of every pattern of
// bits.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/real.h"
#include "kernels/vector_loops.h"
#include "qkv/targets.h"

namespace qkv::kernels::convert_test {
namespace {

struct Set {
  std::string name;
  const VectorLoops* loops;
};

std::vector<Set> sets() {
  std::vector<Set> all = {{"baseline", &baseline::kLoops}};
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.runs_here) continue;
#if defined(QKV_BUILDS_AVX2)
    if (target.name == "avx2") all.push_back({"avx2", &avx2::kLoops});
#endif
#if defined(QKV_BUILDS_AVX512)
    if (target.name == "avx512") all.push_back({"avx512", &avx512::kLoops});
#endif
  }
  return all;
}

class Convert : public testing::TestWithParam<Set> {};

INSTANTIATE_TEST_SUITE_P(Sets, Convert, testing::ValuesIn(sets()), [](const auto& set) { return set.param.name; });

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// 65,535 of them, so that no width of vectors divides their number.
template <class T>
std::vector<T> all_patterns() {
  std::vector<T> all;
  for (std::uint16_t bits = 0; bits < 0xFFFFU; ++bits) all.emplace_back().bits = bits;
  return all;
}

template <class T>
void expect_widens(const VectorLoops& loops) {
  const std::vector<T> from = all_patterns<T>();
  std::vector<float> to(from.size());
  loops.widen(dtype_of_v<T>, from.data(), static_cast<std::int64_t>(from.size()), to.data());
  for (std::size_t n = 0; n < from.size(); ++n) ASSERT_TRUE(same(to[n], load(from[n]))) << n;
}

// Every 9,973rd pattern of 32 bits.
template <class T>
void expect_narrows(const VectorLoops& loops) {
  std::vector<float> from;
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 9973) {
    from.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  std::vector<T> to(from.size());
  loops.narrow(dtype_of_v<T>, from.data(), static_cast<std::int64_t>(from.size()), to.data());
  for (std::size_t n = 0; n < from.size(); ++n) {
    T wanted;
    store(wanted, from[n]);
    ASSERT_EQ(to[n].bits, wanted.bits) << from[n];
  }
}

TEST_P(Convert, WidensEveryNumber) {
  expect_widens<BFloat16>(*GetParam().loops);
  expect_widens<Half>(*GetParam().loops);
}

TEST_P(Convert, RoundsAsTheTypesDo) {
  expect_narrows<BFloat16>(*GetParam().loops);
  expect_narrows<Half>(*GetParam().loops);
}

}  // namespace
}  // namespace qkv::kernels::convert_test
