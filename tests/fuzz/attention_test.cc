// Random calls of attention, there and back, for QKV_FUZZ_SECONDS (30), all targets against the reference, or
// QKV_FUZZ_CALLS of them. QKV_FUZZ_SEED (1) is the first one's number; QKV_FUZZ_CASE is one case to repeat instead.
#include "fuzz/attention.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "cases/random_case.h"

namespace qkv::fuzz::attention_test {
namespace {

using Clock = std::chrono::steady_clock;

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? otherwise : value;
}

cases::Case case_number(std::uint64_t n) {
  std::mt19937_64 engine(n);
  std::vector<std::uint8_t> bytes(cases::kCaseBytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(engine() >> 56U);
  return cases::case_from(bytes);
}

TEST(AttentionFuzz, AllTargetsAgreeWithTheReference) {
  const std::string repeated = from_environment("QKV_FUZZ_CASE", "");
  if (!repeated.empty()) {
    EXPECT_EQ(fault_of(cases::parse_case(repeated)), "") << repeated;
    return;
  }
  const auto end = Clock::now() + std::chrono::seconds(std::stol(from_environment("QKV_FUZZ_SECONDS", "30")));
  const std::uint64_t first = std::stoull(from_environment("QKV_FUZZ_SEED", "1"));
  const std::uint64_t calls = std::stoull(from_environment("QKV_FUZZ_CALLS", "0"));
  const auto goes_on = [&](std::uint64_t n) {
    return calls > 0 ? n < first + calls : n == first || Clock::now() < end;
  };
  std::uint64_t n = first;
  for (; goes_on(n); ++n) {
    const cases::Case one = case_number(n);
    if (!fault_of(one).empty()) {
      FAIL() << "case " << n << ": " << report(one);
    }
  }
  std::printf("%llu cases from number %llu on\n", static_cast<unsigned long long>(n - first),
              static_cast<unsigned long long>(first));
}

TEST(AttentionFuzz, ShrinksToTheSmallestCaseThatFails) {
  const auto fault = [](const cases::Case& one) { return one.Tk > 64 && one.mask == "causal" ? "wrong" : ""; };
  cases::Case large = case_number(1);
  large.Tk = 190;
  large.mask = "causal";
  EXPECT_EQ(to_text(cases::shrunk(large, fault)), "dtype=f32 Tk=65 mask=causal");
}

}  // namespace
}  // namespace qkv::fuzz::attention_test
