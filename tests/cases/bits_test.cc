// Which changes of a call change no bit of its result: the threads, what else is in the call, who else is calling.
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "cases/covering.h"
#include "cases/run.h"

namespace qkv::cases::bits_test {
namespace {

// Every so many rows of both tables.
std::vector<Case> some_rows(std::size_t step) {
  std::vector<Case> some;
  for (std::size_t n = 0; n < table().size(); n += step) some.push_back(table()[n]);
  for (std::size_t n = 0; n < decode_table().size(); n += step) some.push_back(decode_table()[n]);
  return some;
}

TEST(Bits, AreTheSameOnAnyNumberOfThreads) {
  for (const Case& one : some_rows(13)) {
    const Inputs inputs = Inputs::of(one);
    for (const std::string& target : targets(one.dtype)) {
      const auto bits = run_on(target, one, inputs, 1).bits();
      for (const int threads : {2, 3, 5}) {
        EXPECT_EQ(run_on(target, one, inputs, threads).bits(), bits)
            << target << " on " << threads << " threads: " << to_text(one);
      }
    }
  }
}

TEST(Bits, AreTheSameWhereverTheInputsLie) {
  for (Case one : some_rows(13)) {
    one.poison = false;
    one.q = one.k = one.v = one.out = Layout::dense;
    const Inputs dense = Inputs::of(one);
    Case other = one;
    other.q = Layout::gapped;
    other.k = Layout::page_rows;
    other.v = Layout::columns;
    other.out = Layout::token_major;
    const Inputs moved = Inputs::of(other);
    for (const std::string& target : targets(one.dtype)) {
      EXPECT_EQ(run_on(target, one, dense, 1).bits(), run_on(target, other, moved, 1).bits()) << target << to_text(one);
    }
  }
}

// A part of a call, as a call of its own, gives that part of the result.
class Part : public testing::TestWithParam<DType> {
 protected:
  // Longer than a tile each way, and several of everything.
  [[nodiscard]] static Case whole() {
    return {.dtype = GetParam(), .B = 3, .Hk = 2, .group = 3, .Tq = 193, .Tk = 150, .D = 40, .Dv = 24, .seed = 5};
  }

  struct Views {
    TensorView q;
    TensorView k;
    TensorView v;
  };

  [[nodiscard]] static Views views_of(const Inputs& inputs) {
    return {.q = inputs.q.view(), .k = inputs.k.view(), .v = inputs.v.view()};
  }

  static void expect_part(const Views& part, AttentionOptions options, const TensorView& out, const TensorView& lse) {
    options.threads = 1;
    const AttentionResult result = attention(part.q, part.k, part.v, options);
    EXPECT_EQ(result.out.to_vector(), out.to_vector()) << options.target;
    EXPECT_EQ(result.lse.to_vector(), lse.to_vector()) << options.target;
  }
};

TEST_P(Part, OneBatchEntry) {
  const Case one = whole();
  const Inputs inputs = Inputs::of(one);
  const Views all = views_of(inputs);
  for (const std::string& target : targets(one.dtype)) {
    const AttentionOptions options = {.mask = causal() | prefix(70), .target = target};
    const AttentionResult result = attention(all.q, all.k, all.v, options);
    for (std::int64_t b = 0; b < one.B; ++b) {
      const auto entry = [&](const TensorView& x) { return x.slice(0, b, b + 1); };
      expect_part({.q = entry(all.q), .k = entry(all.k), .v = entry(all.v)}, options, entry(result.out),
                  entry(result.lse));
    }
  }
}

TEST_P(Part, OneKeyHeadAndItsQueries) {
  const Case one = whole();
  const Inputs inputs = Inputs::of(one);
  const Views all = views_of(inputs);
  for (const std::string& target : targets(one.dtype)) {
    const AttentionOptions options = {.softcap = 4.0, .mask = window(40), .target = target};
    const AttentionResult result = attention(all.q, all.k, all.v, options);
    for (std::int64_t h = 0; h < one.Hk; ++h) {
      const auto heads = [&](const TensorView& x, std::int64_t group) {
        return x.slice(1, h * group, (h + 1) * group);
      };
      expect_part({.q = heads(all.q, one.group), .k = heads(all.k, 1), .v = heads(all.v, 1)}, options,
                  heads(result.out, one.group), heads(result.lse, one.group));
    }
  }
}

TEST_P(Part, OneHeadOfAGroup) {
  const Case one = whole();
  const Inputs inputs = Inputs::of(one);
  const Views all = views_of(inputs);
  for (const std::string& target : targets(one.dtype)) {
    const AttentionOptions options = {.mask = causal(), .target = target};
    const AttentionResult result = attention(all.q, all.k, all.v, options);
    for (std::int64_t h = 0; h < one.Hq(); ++h) {
      const std::int64_t key_head = h / one.group;
      const auto head = [](const TensorView& x, std::int64_t n) { return x.slice(1, n, n + 1); };
      expect_part({.q = head(all.q, h), .k = head(all.k, key_head), .v = head(all.v, key_head)}, options,
                  head(result.out, h), head(result.lse, h));
    }
  }
}

TEST_P(Part, WholeTilesOfQueries) {
  const Case one = whole();
  const Inputs inputs = Inputs::of(one);
  const Views all = views_of(inputs);
  for (const std::string& target : targets(one.dtype)) {
    const AttentionOptions options = {.mask = prefix(140), .target = target};
    const AttentionResult result = attention(all.q, all.k, all.v, options);
    for (const auto& [begin, end] : {std::pair(0, 64), std::pair(64, 192), std::pair(128, 193)}) {
      const auto rows = [&, from = begin, to = end](const TensorView& x) { return x.slice(2, from, to); };
      expect_part({.q = rows(all.q), .k = all.k, .v = all.v}, options, rows(result.out), rows(result.lse));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, Part, testing::Values(DType::f32, DType::f16, DType::bf16),
                         [](const auto& chosen) { return std::string(name_of(chosen.param)); });

TEST(Bits, AreTheSameForCallsFromManyThreads) {
  constexpr int kCallers = 4;
  for (const Case& one : some_rows(40)) {
    const Inputs inputs = Inputs::of(one);
    for (const std::string& target : targets(one.dtype)) {
      const auto bits = run_on(target, one, inputs, 1).bits();
      std::vector<std::vector<std::uint32_t>> seen(kCallers);
      std::vector<std::thread> callers;
      for (int n = 0; n < kCallers; ++n) {
        callers.emplace_back(
            [&, n] { seen[static_cast<std::size_t>(n)] = run_on(target, one, inputs, 1 + n % 3).bits(); });
      }
      for (std::thread& caller : callers) caller.join();
      EXPECT_THAT(seen, testing::Each(bits)) << target << ": " << to_text(one);
    }
  }
}

}  // namespace
}  // namespace qkv::cases::bits_test
