#include "qkv/decode.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <random>

#include "attention/fused_call.h"
#include "core/error_message.h"
#include "mask/batch_entry.h"
#include "mask/random_bias.h"

namespace qkv::testing_attention::decode_test {
namespace {

using mask_test::any_in;

Tensor any_numbers(const Shape& shape, DType dtype) {
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  std::normal_distribution<double> draw;
  Tensor numbers(DType::f64, shape);
  for (double& value : numbers.values<double>()) value = draw(engine);
  return numbers.to(dtype);
}

DType any_cached() { return *rc::gen::element(DType::f32, DType::f16, DType::bf16, DType::i8); }

// A contiguous and a paged cache that hold the same, sequence b lengths[b] tokens.
struct Caches {
  KvCache contiguous;
  KvCache paged;
};

Caches any_caches(const KvFormat& format, const std::vector<std::int64_t>& lengths) {
  const auto B = static_cast<std::int64_t>(lengths.size());
  Caches caches = {KvCache({.format = format, .B = B, .capacity = 300}),
                   KvCache(KvPages({.format = format, .pages = 19 * B, .page_tokens = 16}), B)};
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    const Tensor k = any_numbers({format.Hk, length, format.D}, DType::f32);
    const Tensor v = any_numbers({format.Hk, length, format.Dv.value_or(format.D)}, DType::f32);
    caches.contiguous.append(b, k, v);
    caches.paged.append(b, k, v);
  }
  return caches;
}

// Sequence b by itself, as plain tensors in f64.
Qkv sequence_of(const TensorView& q, const KvCacheView& cache, std::int64_t b) {
  const auto batched = [](const Tensor& x) { return Tensor(x.view().unsqueeze(0)); };
  return {.q = Tensor(q.slice(0, b, b + 1)),
          .k = batched(cache.keys(b, DType::f64)),
          .v = batched(cache.values(b, DType::f64))};
}

AttentionResult entry_of(const AttentionResult& result, std::int64_t b) {
  return {.out = Tensor(result.out.view().slice(0, b, b + 1)), .lse = Tensor(result.lse.view().slice(0, b, b + 1))};
}

void require_equal(const AttentionResult& a, const AttentionResult& b) {
  const auto bits = [](const Tensor& x) {
    std::vector<double> values = x.to_vector();
    for (double& value : values) value = std::isnan(value) ? 1e300 : value;
    return values;
  };
  RC_ASSERT(a.out.shape() == b.out.shape());
  RC_ASSERT(bits(a.out) == bits(b.out));
  RC_ASSERT(bits(a.lse) == bits(b.lse));
}

struct Problem {
  Tensor q;
  Caches caches;
  AttentionOptions options;  // masks and biases that know of b, H, Tq and every length
};

// One length for all, so that arrays may be masks and biases, too; or lengths of their own.
Problem any_problem(DType q_dtype) {
  const KvFormat format{.Hk = any_in(1, 2), .D = any_in(1, 9), .Dv = any_in(0, 5), .dtype = any_cached()};
  const std::int64_t B = any_in(1, 3);
  const std::int64_t Hq = format.Hk * any_in(1, 3);
  const std::int64_t Tq = any_in(1, 4);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(B), any_in(0, 200));
  const MaskShape shape{.B = B, .H = Hq, .Tq = Tq, .Tk = lengths.front()};
  Problem problem = {any_numbers({B, Hq, Tq, format.D}, q_dtype), any_caches(format, lengths), {}};
  problem.options.mask = mask_test::any_mask(shape, 2).mask;
  problem.options.bias = mask_test::any_bias(shape);
  if (*rc::gen::arbitrary<bool>()) {
    for (std::int64_t& length : lengths) length = any_in(0, 200);
    problem.caches = any_caches(format, lengths);
    problem.options.mask = (causal() & window(any_in(1, 150))) | prefix(any_in(0, 3));
    problem.options.bias = alibi();
  }
  if (*rc::gen::arbitrary<bool>()) problem.options.softcap = 3;
  if (*rc::gen::arbitrary<bool>()) problem.options.sinks.assign(static_cast<std::size_t>(Hq), 0.5);
  return problem;
}

RC_GTEST_PROP(DecodeProperty, IsAttentionOverEachSequence, ()) {
  const Problem problem = any_problem(DType::f64);
  const AttentionResult result = decode(problem.q, problem.caches.contiguous, problem.options);
  require_equal(result, decode(problem.q, problem.caches.paged, problem.options));
  const KvCacheView cache = problem.caches.contiguous;
  for (std::int64_t b = 0; b < cache.B(); ++b) {
    const Qkv inputs = sequence_of(problem.q, cache, b);
    AttentionOptions options = problem.options;
    options.mask = batch_entry(options.mask, b, cache.B());
    options.bias = batch_entry(options.bias, b, cache.B());
    require_equal(entry_of(result, b), attention(inputs.q, inputs.k, inputs.v, options));
  }
}

RC_GTEST_PROP(DecodeProperty, PagesChangeNoBitOnAnyTarget, ()) {
  Problem problem = any_problem(*rc::gen::element(DType::f32, DType::f16, DType::bf16));
  if (*rc::gen::arbitrary<bool>()) problem.options.dropout = Dropout{.p = 0.5, .seed = 3};
  for (const std::string& target : fused_targets()) {
    problem.options.target = target;
    const AttentionResult result = decode(problem.q, problem.caches.contiguous, problem.options);
    require_equal(result, decode(problem.q, problem.caches.paged, problem.options));
    problem.options.threads = 3;
    require_equal(result, decode(problem.q, problem.caches.paged, problem.options));
  }
}

MatrixWindow any_window(std::int64_t queries, std::int64_t keys) {
  const auto extent = [](std::int64_t first, std::int64_t step, std::int64_t count) {
    return first + (count > 0 ? (count - 1) * step + 1 : 0) + any_in(0, 9);
  };
  MatrixWindow window = {
      .first_i = any_in(0, 9), .step_i = any_in(1, 3), .first_j = any_in(0, 99), .step_j = any_in(1, 3)};
  window.Tq = extent(window.first_i, window.step_i, queries);
  window.Tk = extent(window.first_j, window.step_j, keys);
  return window;
}

// Sequences and matrices of lengths of their own.
RC_GTEST_PROP(DecodeProperty, HasAWindowForEachSequence, ()) {
  const KvFormat format{.Hk = any_in(1, 2), .D = any_in(1, 9), .Dv = any_in(0, 5), .dtype = any_cached()};
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(any_in(1, 3)));
  for (std::int64_t& length : lengths) length = any_in(0, 200);
  const Caches caches = any_caches(format, lengths);
  const Tensor q = any_numbers({std::ssize(lengths), 2 * format.Hk, any_in(1, 4), format.D}, DType::f64);
  AttentionOptions options = {.bias = alibi(), .mask = (causal() & window(any_in(1, 150))) | prefix(any_in(0, 3))};
  for (const std::int64_t length : lengths) options.within.push_back(any_window(q.dim(2), length));
  const AttentionResult result = decode(q, caches.contiguous, options);
  require_equal(result, decode(q, caches.paged, options));
  std::vector<AttentionResult> fused;
  for (const std::string& target : fused_targets()) {
    AttentionOptions on_target = options;
    on_target.target = target;
    fused.push_back(decode(q.to(DType::f32), caches.paged, on_target));
  }
  for (std::int64_t b = 0; b < std::ssize(lengths); ++b) {
    AttentionOptions own = options;
    own.within = {options.within[static_cast<std::size_t>(b)]};
    const Qkv inputs = sequence_of(q, caches.contiguous.view(), b);
    require_equal(entry_of(result, b), attention(inputs.q, inputs.k, inputs.v, own));
    const Qkv narrow = sequence_of(q.to(DType::f32), caches.contiguous.view(), b);
    for (const AttentionResult& got : fused) expect_as_reference(narrow, own, entry_of(got, b));
  }
}

class DecodeOn : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Targets, DecodeOn, testing::ValuesIn(fused_targets()),
                         [](const auto& target) { return target.param; });

TEST_P(DecodeOn, AgreesWithTheReference) {
  const std::vector<AttentionOptions> calls = {
      {},
      {.mask = causal()},
      {.softcap = 2.0, .mask = causal(), .sinks = {0.5, -1, 2, 0}},
      {.bias = alibi(), .mask = causal() & (window(40) | prefix(3))},
      {.mask = key_lengths({120, 0, 60})},  // the first is longer than the others' sequences
  };
  for (const DType q_dtype : {DType::f32, DType::bf16}) {
    for (const DType cached : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
      const Qkv plain = inputs_of({.B = 3, .H = 4, .Tq = 2, .Tk = 130}, {.Hk = 2, .D = 20, .Dv = 9}, q_dtype);
      KvCache cache(KvPages({.format = {.Hk = 2, .D = 20, .Dv = 9, .dtype = cached}, .pages = 9, .page_tokens = 64}),
                    3);
      cache.append(plain.k, plain.v);
      cache.truncate(1, 65);
      cache.truncate(2, 90);
      for (AttentionOptions options : calls) {
        options.target = GetParam();
        const AttentionResult result = decode(plain.q, cache, options);
        for (std::int64_t b = 0; b < 3; ++b) {
          AttentionOptions own = options;
          own.mask = batch_entry(options.mask, b, 3);
          expect_as_reference(sequence_of(plain.q, cache, b), own, entry_of(result, b));
        }
      }
    }
  }
}

TEST_P(DecodeOn, TakesScratchOfTheSizeThatItNames) {
  const Qkv plain = inputs_of({.B = 1, .H = 2, .Tq = 3, .Tk = 70}, {.Hk = 2, .D = 8, .Dv = 8}, DType::f32);
  KvCache cache({.format = {.Hk = 2, .D = 8}, .B = 1, .capacity = 70});
  cache.append(plain.k, plain.v);
  AttentionOptions options = {.mask = causal(), .threads = 2, .target = GetParam()};
  const Tensor transposed(plain.q.view().transpose(2, 3));
  const TensorView q = transposed.view().transpose(2, 3);
  const AttentionResult expected = decode(plain.q, cache, options);
  std::vector<std::byte> scratch(decode_scratch_bytes(q, cache, options));
  options.scratch = scratch;
  const AttentionResult result = decode(q, cache, options);
  EXPECT_EQ(result.out.to_vector(), expected.out.to_vector());
  options.scratch = std::span(scratch).first(scratch.size() - 1);
  EXPECT_EQ(error_message([&] { (void)decode(q, cache, options); }),
            "decode: scratch: expected " + std::to_string(scratch.size()) + " bytes or more, got " +
                std::to_string(scratch.size() - 1));
}

// Memory whose pages end the program where they are touched.
class Forbidden {
 public:
  explicit Forbidden(std::size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;
  ~Forbidden() { munmap(data_, bytes_); }

  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }
  void forbid(std::size_t begin, std::size_t end) const {
    ASSERT_EQ(mprotect(static_cast<std::byte*>(data_) + begin, end - begin, PROT_NONE), 0);
  }

 private:
  std::size_t bytes_;
  void* data_;
};

// Sees global tokens and a window: the pages between them are not touched.
TEST(Decode, LeavesPagesAloneThatNoQuerySees) {
  constexpr std::int64_t kPages = 16;
  constexpr std::size_t kPageBytes = 64 * 64 * sizeof(float);
  const Forbidden k(kPages * kPageBytes);
  const Forbidden v(kPages * kPageBytes);
  std::vector<std::int32_t> order;
  for (std::int32_t page = 0; page < kPages; ++page) order.push_back(page);
  for (std::size_t n = 0; n < kPages * kPageBytes / sizeof(float); ++n) k.data()[n] = v.data()[n] = 1;
  const Shape shape{kPages, 1, 64, 64};
  const Tensor table(order, {1, kPages});
  const KvCacheView cache({.k = {k.data(), shape}, .v = {v.data(), shape}}, table, {1000});
  const AttentionOptions options = {.mask = causal() & (window(100) | prefix(4))};
  std::vector<std::string> targets = fused_targets();
  targets.emplace_back("reference");
  for (const std::string& target : targets) {
    if (target == targets.front()) {
      // Keys 900 to 999 lie in pages 14 and 15.
      k.forbid(kPageBytes, 14 * kPageBytes);
      v.forbid(kPageBytes, 14 * kPageBytes);
    }
    AttentionOptions one = options;
    one.target = target;
    const AttentionResult result = decode(Tensor(std::vector<float>(128, 0), {1, 2, 1, 64}), cache, one);
    EXPECT_THAT(result.out.to_vector(), testing::Each(testing::DoubleNear(1, 0x1p-20))) << target;
    EXPECT_THAT(result.lse.to_vector(), testing::Each(testing::DoubleNear(std::log(104.0), 0x1p-20))) << target;
  }
}

TEST(Decode, DropsAsTheBatchEntryThatASequenceIs) {
  const Qkv plain = inputs_of({.B = 2, .H = 2, .Tq = 2, .Tk = 30}, {.Hk = 1, .D = 4, .Dv = 4}, DType::f32);
  KvCache cache({.format = {.D = 4}, .B = 2, .capacity = 30});
  cache.append(plain.k, plain.v);
  const AttentionOptions options = {.dropout = Dropout{.p = 0.5, .seed = 9}};
  for (const DType dtype : {DType::f64, DType::f32}) {
    const AttentionResult result = decode(plain.q.to(dtype), cache, options);
    const AttentionResult expected = attention(plain.q.to(dtype), plain.k.to(dtype), plain.v.to(dtype), options);
    EXPECT_EQ(result.out.to_vector(), expected.out.to_vector());
  }
}

TEST(Decode, GrowsWithTheCache) {
  const Qkv plain = inputs_of({.B = 1, .H = 2, .Tq = 9, .Tk = 9}, {.Hk = 2, .D = 6, .Dv = 3}, DType::f64);
  const AttentionResult whole = attention(plain.q, plain.k.to(DType::f32).to(DType::f64),
                                          plain.v.to(DType::f32).to(DType::f64), {.mask = causal()});
  KvCache cache(KvPages({.format = {.Hk = 2, .D = 6, .Dv = 3}, .pages = 1, .page_tokens = 16}), 1);
  for (std::int64_t t = 0; t < 9; ++t) {
    cache.append(plain.k.view().slice(2, t, t + 1), plain.v.view().slice(2, t, t + 1));
    const AttentionResult step = decode(plain.q.view().slice(2, t, t + 1), cache);
    EXPECT_EQ(step.out.to_vector(), whole.out.view().slice(2, t, t + 1).to_vector());
  }
}

TEST(Decode, KeepsAllDigitsInF64) {
  const Qkv plain = inputs_of({.B = 2, .H = 4, .Tq = 5, .Tk = 5}, {.Hk = 2, .D = 6, .Dv = 3}, DType::f64);
  const AttentionResult whole = attention(plain.q, plain.k, plain.v, {.mask = causal()});
  KvCache cache({.format = {.Hk = 2, .D = 6, .Dv = 3, .dtype = DType::f64}, .B = 2, .capacity = 5});
  for (std::int64_t t = 0; t < 5; ++t) {
    cache.append(plain.k.view().slice(2, t, t + 1), plain.v.view().slice(2, t, t + 1));
    const AttentionResult step = decode(plain.q.view().slice(2, t, t + 1), cache);
    EXPECT_EQ(step.out.to_vector(), whole.out.view().slice(2, t, t + 1).to_vector());
  }
}

TEST(Decode, HasAnAnswerForNothing) {
  const KvCache cache({.format = {.D = 3, .Dv = 2}, .B = 2, .capacity = 4});
  for (const DType dtype : {DType::f64, DType::f32}) {
    const AttentionResult result = decode(Tensor(dtype, {2, 1, 1, 3}), cache);
    EXPECT_THAT(result.out.to_vector(), testing::Each(0));
    EXPECT_THAT(result.lse.to_vector(), testing::Each(-INFINITY));
    EXPECT_EQ(decode(Tensor(dtype, {2, 1, 0, 3}), cache).out.shape(), Shape({2, 1, 0, 2}));
  }
}

TEST(Decode, SaysWhatDoesNotFit) {
  const KvCache cache({.format = {.Hk = 2, .D = 3}, .B = 2, .capacity = 4});
  const auto message = [&](const Tensor& q, const AttentionOptions& options = {}) {
    return error_message([&] { (void)decode(q, cache, options); });
  };
  const Tensor q(DType::f32, {2, 4, 1, 3});
  EXPECT_EQ(message(Tensor(DType::f32, {2, 4, 3})), "decode: q: expected a shape [B, Hq, Tq, D], got [2, 4, 3]");
  const KvCache exact({.format = {.Hk = 2, .D = 3, .dtype = DType::f64}, .B = 2, .capacity = 4});
  EXPECT_EQ(error_message([&] { (void)decode(Tensor(DType::f32, {2, 4, 1, 3}), exact.view()); }),
            "decode: cache: expected f32, f16, bf16 or i8, unless q is f64, got f64");
  EXPECT_EQ(message(Tensor(DType::i8, {2, 4, 1, 3})), "decode: q: expected f64, f32, f16 or bf16, got i8");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 0, 1, 3})),
            "decode: q: expected Hq >= 1 in [B, Hq, Tq, D], got [2, 0, 1, 3]");
  EXPECT_EQ(message(Tensor(DType::f32, {3, 4, 1, 3})), "decode: cache: expected B = 3 as in q [3, 4, 1, 3], got 2");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 4, 1, 5})), "decode: cache: expected D = 5 as in q [2, 4, 1, 5], got 3");
  EXPECT_EQ(message(Tensor(DType::f32, {2, 3, 1, 3})), "decode: cache: expected Hk that divides Hq = 3, got Hk = 2");
  EXPECT_EQ(message(q, {.softcap = 0.0}), "decode: softcap: expected a finite number > 0, got 0");
  EXPECT_EQ(message(q, {.ragged = Ragged{}}),
            "decode: ragged: expected none: each sequence has its own length, got one");
  const TilePlan plan(all(), {});
  EXPECT_EQ(message(q, {.plan = &plan}), "decode: plan: expected none: each sequence has its own length, got one");
  EXPECT_EQ(message(q, {.mask = key_lengths({1, 0})}),
            "key_lengths: lengths: expected at most 0, the number of keys, got 1");
  EXPECT_EQ(message(q, {.bias = alibi({1.0})}), "alibi: slopes: expected one for each of 4 heads, got 1");
  EXPECT_EQ(error_message([&] { (void)decode_scratch_bytes(q, cache, {.threads = 0}); }),
            "decode_scratch_bytes: threads: expected 1 or more, got 0");
}

}  // namespace
}  // namespace qkv::testing_attention::decode_test
