#include "cache/shared_prefixes.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "attention/fused_call.h"
#include "attention/validate.h"
#include "mask/batch_entry.h"

namespace qkv::testing_attention::shared_prefixes_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A run as text: "0-4: 0 1 2".
std::vector<std::string> as_text(const std::vector<SharedRun>& runs) {
  std::vector<std::string> lines;
  for (const SharedRun& run : runs) {
    std::string line = std::to_string(run.columns.begin) + "-" + std::to_string(run.columns.end) + ":";
    for (const std::int64_t b : run.sequences) line += " " + std::to_string(b);
    lines.push_back(line);
  }
  return lines;
}

struct Tables {
  std::int64_t page_tokens;
  std::vector<std::vector<std::int32_t>> pages;  // of each sequence
  std::vector<std::int64_t> lengths;
  std::int64_t Tq = 1;
};

std::vector<std::string> runs_of(const Tables& tables, const AttentionOptions& options = {}) {
  constexpr std::int64_t kPages = 100;
  const Shape rows = {kPages, 1, tables.page_tokens, 1};
  const std::vector<float> memory(static_cast<std::size_t>(kPages * tables.page_tokens));
  std::size_t most = 0;
  for (const auto& row : tables.pages) most = std::max(most, row.size());
  std::vector<std::int32_t> table;
  for (std::vector<std::int32_t> row : tables.pages) {
    row.resize(most);
    table.insert(table.end(), row.begin(), row.end());
  }
  const auto B = static_cast<std::int64_t>(tables.pages.size());
  const Tensor page_table(table, {B, static_cast<std::int64_t>(most)});
  const KvCacheView cache({.k = {memory.data(), rows}, .v = {memory.data(), rows}}, page_table, tables.lengths);
  const Tensor q(DType::f32, {B, 1, tables.Tq, 1});
  const TensorView q_view = q;
  DecodeCall call = {.q = q_view, .cache = cache, .options = options};
  set_mask_and_bias(options, call.problem);
  return as_text(shared_runs(call, SequencePlans(call)));
}

TEST(SharedPrefixes, AreFoundWhereTablesBeginAlike) {
  EXPECT_THAT(runs_of({.page_tokens = 256, .pages = {{7, 1}, {7, 2}, {3, 1}}, .lengths = {300, 400, 512}}),
              ElementsAre("0-4: 0 1"));
  // The last of 300 keys stand in a column that is not whole.
  EXPECT_THAT(runs_of({.page_tokens = 512, .pages = {{7}, {7}}, .lengths = {300, 500}}), ElementsAre("0-4: 0 1"));
  EXPECT_THAT(runs_of({.page_tokens = 16,
                       .pages = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
                                 {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 30, 31}},
                       .lengths = {330, 330}}),
              ElementsAre("0-4: 0 1"));
}

TEST(SharedPrefixes, LieWithinEachOther) {
  EXPECT_THAT(runs_of({.page_tokens = 256,
                       .pages = {{1, 2, 3}, {9, 2}, {1, 2, 4}, {1, 5}, {1, 2, 3}, {9, 2}},
                       .lengths = {768, 512, 700, 512, 768, 300}}),
              ElementsAre("0-4: 0 2 3 4", "4-8: 0 2 4", "8-12: 0 4", "0-4: 1 5"));
}

TEST(SharedPrefixes, AreLeftAloneWhereTheyAreNotWorthIt) {
  EXPECT_THAT(runs_of({.page_tokens = 64, .pages = {{1, 2, 3, 4}, {1, 2, 3, 5}}, .lengths = {256, 256}}), IsEmpty());
  EXPECT_THAT(runs_of({.page_tokens = 256, .pages = {{1}, {1}}, .lengths = {255, 256}}), IsEmpty());
  EXPECT_THAT(runs_of({.page_tokens = 256, .pages = {{1}, {}}, .lengths = {256, 0}}), IsEmpty());
  EXPECT_THAT(runs_of({.page_tokens = 256, .pages = {{1, 2}, {3, 2}}, .lengths = {512, 512}}), IsEmpty());
  EXPECT_THAT(runs_of({.page_tokens = 256, .pages = {{1}, {1}}, .lengths = {256, 256}, .Tq = 0}), IsEmpty());
}

TEST(SharedPrefixes, EndWhereTheMaskHidesAKey) {
  const Tables tables = {.page_tokens = 512, .pages = {{1, 2}, {1, 2}}, .lengths = {1000, 1000}, .Tq = 200};
  EXPECT_THAT(runs_of(tables), ElementsAre("0-15: 0 1"));
  // Query 0 of 200 is the 801st of 1000 tokens: it sees 12 whole columns.
  EXPECT_THAT(runs_of(tables, {.mask = causal()}), ElementsAre("0-12: 0 1"));
  EXPECT_THAT(runs_of(tables, {.mask = causal() & window(900)}), IsEmpty());
  EXPECT_THAT(runs_of(tables, {.mask = key_lengths({1000, 500})}), ElementsAre("0-7: 0 1"));
}

TEST(SharedPrefixes, AreNotForWhatKnowsOfTheSequence) {
  const Tables tables = {.page_tokens = 512, .pages = {{1}, {1}}, .lengths = {500, 500}};
  EXPECT_THAT(runs_of(tables, {.bias = alibi()}), IsEmpty());
  EXPECT_THAT(runs_of(tables, {.dropout = Dropout{.p = 0.5, .seed = 1}}), IsEmpty());
}

class SharedPrefixesOn : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, SharedPrefixesOn, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

// A cache whose sequences are forks of forks, and so share pages at two depths.
KvCache family(const KvFormat& format, std::int64_t page_tokens, std::mt19937_64& random) {
  const auto any = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto append = [&](KvCache& cache, std::int64_t b, std::int64_t tokens) {
    std::normal_distribution<float> draw;
    Tensor k(DType::f32, {format.Hk, tokens, format.D});
    Tensor v(DType::f32, {format.Hk, tokens, format.Dv.value_or(format.D)});
    for (Tensor* x : {&k, &v}) {
      for (float& value : x->values<float>()) value = draw(random);
    }
    cache.append(b, k, v);
  };
  const KvPages pool({.format = format, .pages = 8192 / page_tokens, .page_tokens = page_tokens});
  KvCache cache(pool, 1);
  append(cache, 0, any(250, 700));
  cache = cache.fork(std::vector<std::int64_t>(static_cast<std::size_t>(any(2, 3)), 0));
  for (std::int64_t b = 0; b < cache.B(); ++b) append(cache, b, any(0, 400));
  std::vector<std::int64_t> kept(static_cast<std::size_t>(any(2, 5)));
  for (std::int64_t& b : kept) b = any(0, cache.B() - 1);
  cache = cache.fork(kept);
  for (std::int64_t b = 0; b < cache.B(); ++b) append(cache, b, any(0, 90));
  return cache;
}

Qkv sequence_alone(const TensorView& q, const KvCacheView& cache, std::int64_t b) {
  return {.q = Tensor(q.slice(0, b, b + 1)),
          .k = Tensor(cache.keys(b, DType::f64).view().unsqueeze(0)),
          .v = Tensor(cache.values(b, DType::f64).view().unsqueeze(0))};
}

TEST_P(SharedPrefixesOn, GiveWhatEachSequenceGivesByItself) {
  std::mt19937_64 random(1);
  int shared = 0;
  for (int round = 0; round < 24; ++round) {
    const std::int64_t group = std::array<std::int64_t, 4>{1, 3, 8, 20}[static_cast<std::size_t>(round % 4)];
    const DType cached =
        std::array{DType::f32, DType::bf16, DType::f16, DType::i8}[static_cast<std::size_t>(round / 4 % 4)];
    const KvFormat format = {.Hk = 2, .D = round % 3 == 0 ? 64 : 20, .Dv = round % 5 == 0 ? 9 : 64, .dtype = cached};
    const KvCache cache = family(format, round % 2 == 0 ? 16 : 128, random);
    const std::int64_t Tq = round % 7 == 3 ? 5 : 1;
    const DType q_dtype = cached == DType::bf16 ? DType::bf16 : DType::f32;
    const Tensor q =
        inputs_of({.B = cache.B(), .H = 2 * group, .Tq = Tq, .Tk = 1}, {.Hk = 2, .D = format.D, .Dv = 1}, q_dtype).q;
    AttentionOptions options = {.mask = causal(), .target = GetParam()};
    if (round % 3 == 1) options.softcap = 3;
    if (round % 3 == 2) options.sinks.assign(static_cast<std::size_t>(2 * group), 0.5);
    if (round % 8 == 7) options.mask = causal() & (window(300) | prefix(260));
    const TensorView q_view = q;
    const KvCacheView view = cache;
    for (std::int64_t b = 0; b < cache.B() && round % 4 == 1; ++b) {  // every second key, up to the last
      options.within.push_back({.Tq = b + Tq, .Tk = 2 * cache.length(b) + b, .first_i = b, .first_j = b, .step_j = 2});
    }
    DecodeCall call = {.q = q_view, .cache = view, .options = options};
    set_mask_and_bias(options, call.problem);
    shared += static_cast<int>(shared_runs(call, SequencePlans(call)).size());
    options.threads = 1;
    const AttentionResult result = decode(q, cache, options);
    for (std::int64_t b = 0; b < cache.B(); ++b) {
      const AttentionResult own = {.out = Tensor(result.out.view().slice(0, b, b + 1)),
                                   .lse = Tensor(result.lse.view().slice(0, b, b + 1))};
      AttentionOptions alone = options;
      if (!options.within.empty()) alone.within = {options.within[static_cast<std::size_t>(b)]};
      expect_as_reference(sequence_alone(q, view, b), alone, own);
    }
    options.threads = 3;
    const AttentionResult threaded = decode(q, cache, options);
    EXPECT_EQ(threaded.out.to_vector(), result.out.to_vector());
    EXPECT_EQ(threaded.lse.to_vector(), result.lse.to_vector());
  }
  EXPECT_GT(shared, 24);
}

TEST_P(SharedPrefixesOn, LetNanAndInfinityReachAllWhoSeeThem) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Qkv plain = inputs_of({.B = 1, .H = 2, .Tq = 1, .Tk = 300}, {.Hk = 1, .D = 8, .Dv = 4}, DType::f32);
  Tensor v = plain.v;
  v.values<float>()[4 * 100 + 1] = kInfinity;
  v.values<float>()[4 * 200 + 2] = std::numeric_limits<float>::quiet_NaN();
  KvCache first(KvPages({.format = {.D = 8, .Dv = 4}, .pages = 40, .page_tokens = 64}), 1);
  first.append(plain.k, v);
  const KvCache cache = first.fork(std::vector<std::int64_t>{0, 0});
  Tensor q(DType::f32, {2, 2, 1, 8});
  const std::vector<double> out = decode(q, cache, {.target = GetParam()}).out.to_vector();
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_TRUE(std::isfinite(out[row * 4])) << row;
    EXPECT_EQ(out[row * 4 + 1], kInfinity) << row;
    EXPECT_TRUE(std::isnan(out[row * 4 + 2])) << row;
  }
}

TEST_P(SharedPrefixesOn, TakeScratchOfTheSizeThatTheyName) {
  std::mt19937_64 random(2);
  const KvCache cache = family({.Hk = 2, .D = 16}, 64, random);
  const Tensor q = inputs_of({.B = cache.B(), .H = 4, .Tq = 2, .Tk = 1}, {.Hk = 2, .D = 16, .Dv = 1}, DType::f32).q;
  AttentionOptions options = {.mask = causal(), .threads = 2, .target = GetParam()};
  const AttentionResult expected = decode(q, cache, options);
  std::vector<std::byte> scratch(decode_scratch_bytes(q, cache, options) + 64, std::byte{0x5A});
  options.scratch = std::span(scratch).first(scratch.size() - 64);
  EXPECT_EQ(decode(q, cache, options).out.to_vector(), expected.out.to_vector());
  EXPECT_THAT(std::span(scratch).last(64), testing::Each(std::byte{0x5A}));
  options.scratch = std::span(scratch).first(scratch.size() - 65);
  EXPECT_THROW((void)decode(q, cache, options), InvalidArgument);
}

}  // namespace
}  // namespace qkv::testing_attention::shared_prefixes_test
