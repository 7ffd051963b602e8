// The fused kernel where a key head has few queries, on every target: read in place from every kind of storage, with
// the keys cut into pieces.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cases/guarded.h"
#include "kernels/cpu/forward_run.h"
#include "kernels/plain.h"
#include "qkv/targets.h"

namespace qkv::kernels::few_queries_test {
namespace {

using cases::Edge;
using cases::Guarded;

struct Call {
  std::string name;
  DType dtype = DType::f32;  // of q and out
  DType stored = DType::f32;
  std::int64_t Hq = 4;
  std::int64_t Hk = 1;
  std::int64_t Tq = 1;
  std::int64_t Tk = 100;
  std::int64_t D = 32;
  std::int64_t Dv = 32;
  std::int64_t page_rows = 0;  // 0: no pages
  Mask mask = {};
  Bias bias = {};
  std::optional<double> softcap = std::nullopt;
  std::optional<Dropout> dropout = std::nullopt;
  std::vector<double> sinks = {};
  double scale = 0.2;
  float query_size = 1;
  float poison = 0;      // of keys and values that nobody sees; 0: none
  float loud_value = 0;  // of one value that is seen; 0: none
  float scale_sign = 1;  // of a row of i8
  float loud_key = 0;    // all of one key that is seen; 0: none
  float outlier = 0;     // element 0 of each query, where all keys have 0; 0: none
  float loud_row = 1;    // times the scale of a row of values that has 0 in all elements but the first
};

void PrintTo(const Call& call, std::ostream* stream) { *stream << call.name; }

// The keys or values of a call: as the kernel reads them, and the same numbers in f32 as the reference does.
class Stored {
 public:
  Stored(const Call& call, const std::vector<float>& numbers, std::int64_t width)
      : call_(call),
        width_(width),
        page_rows_(call.page_rows == 0 ? std::max<std::int64_t>(call.Tk, 1) : call.page_rows),
        pages_((call.Tk + page_rows_ - 1) / page_rows_),
        rows_(static_cast<std::size_t>(std::max<std::int64_t>(1, pages_ * call.Hk * page_rows_ * width * bytes())),
              Edge::back),
        scales_(static_cast<std::size_t>(std::max<std::int64_t>(1, pages_ * call.Hk * page_rows_)) * 4, Edge::back),
        exact_(DType::f32, {1, call.Hk, call.Tk, width}) {
    for (std::int64_t page = 0; page < pages_; ++page) table_.push_back(static_cast<std::int32_t>(pages_ - 1 - page));
    for (std::int64_t h = 0; h < call.Hk; ++h) {
      for (std::int64_t j = 0; j < call.Tk; ++j) write_row(h, j, numbers.data() + (h * call.Tk + j) * width);
    }
  }

  [[nodiscard]] cpu::KvHeads heads() const {
    cpu::KvHeads heads = {.first = {.base = rows_.data(), .dtype = call_.stored, .row_stride_bytes = width_ * bytes()},
                          .head_stride_bytes = page_rows_ * width_ * bytes(),
                          .head_scale_stride = page_rows_};
    if (call_.page_rows > 0) {
      heads.first.pages = table_.data();
      heads.first.page_rows = page_rows_;
      heads.first.page_stride_bytes = call_.Hk * page_rows_ * width_ * bytes();
    }
    if (call_.stored == DType::i8) {
      heads.first.scales = reinterpret_cast<const float*>(scales_.data());
      heads.first.scale_row_stride = 1;
      heads.first.scale_page_stride = call_.Hk * page_rows_;
    }
    return heads;
  }

  [[nodiscard]] const Tensor& exact() const { return exact_; }

 private:
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(size_of(call_.stored)); }

  void write_row(std::int64_t h, std::int64_t j, const float* numbers) {
    const std::int64_t page = table_[static_cast<std::size_t>(j / page_rows_)];
    const std::int64_t row = (page * call_.Hk + h) * page_rows_ + j % page_rows_;
    float scale = 1;
    if (call_.stored == DType::i8) {
      scale = 0.01F + 0.001F * static_cast<float>(j % 7);
      if (!std::isfinite(numbers[0])) scale = numbers[0];
      scale *= call_.scale_sign;
      if (call_.loud_row != 1 && numbers[1] == 0) scale *= call_.loud_row;
      std::memcpy(scales_.data() + row * 4, &scale, 4);
    }
    for (std::int64_t d = 0; d < width_; ++d) {
      std::byte* to = rows_.data() + (row * width_ + d) * bytes();
      exact_.set({0, h, j, d}, write_element(numbers[d], scale, to));
    }
  }

  // Returns what was written.
  double write_element(float number, float scale, std::byte* to) const {
    const auto write = [&](auto element) {
      std::memcpy(to, &element, sizeof(element));
      return static_cast<double>(static_cast<float>(element));
    };
    switch (call_.stored) {
      case DType::bf16:
        return write(BFloat16(number));
      case DType::f16:
        return write(Half(number));
      case DType::i8:
        return scale *
               write(static_cast<std::int8_t>(std::isfinite(number) ? std::clamp(number * 40, -127.F, 127.F) : 1));
      default:
        return write(number);
    }
  }

  const Call& call_;
  std::int64_t width_;
  std::int64_t page_rows_;
  std::int64_t pages_;
  std::vector<std::int32_t> table_;
  Guarded rows_;
  Guarded scales_;
  Tensor exact_;
};

std::vector<float> normal(std::uint64_t seed, std::int64_t count) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = draw(engine);
  return numbers;
}

class Sample {
 public:
  explicit Sample(const Call& call)
      : call_(call),
        shape_{.B = 1, .H = call.Hq, .Tq = call.Tq, .Tk = call.Tk},
        q_(queries()),
        k_(call_, numbers(2, call.D), call.D),
        v_(call_, numbers(3, call.Dv), call.Dv) {}

  [[nodiscard]] Problem problem() const {
    return {.q = q_,
            .k = k_.exact(),
            .shape = shape_,
            .group = call_.Hq / call_.Hk,
            .scale = call_.scale,
            .softcap = call_.softcap,
            .bias = call_.bias,
            .mask = call_.mask,
            .dropout = call_.dropout,
            .sinks = call_.sinks};
  }
  [[nodiscard]] const Tensor& values() const { return v_.exact(); }

  [[nodiscard]] Results run(std::string_view name, int threads) const {
    const auto& [B, H, Tq, Tk] = shape_;
    Results results = {.out = Tensor(call_.dtype, {B, H, Tq, call_.Dv}), .lse = Tensor(DType::f32, {B, H, Tq})};
    const TilePlan plan(call_.mask, shape_, {.queries = kTile, .keys = kTile});
    const cpu::Segment segment = {.shape = shape_,
                                  .plan = &plan,
                                  .q = TensorView(q_).select(0, 0),
                                  .k = k_.heads(),
                                  .v = v_.heads(),
                                  .out = static_cast<std::byte*>(results.out.data()),
                                  .out_dtype = call_.dtype,
                                  .out_head_stride = Tq * call_.Dv,
                                  .out_row_stride = call_.Dv,
                                  .lse = static_cast<std::byte*>(results.lse.data()),
                                  .lse_head_stride = Tq,
                                  .lse_row_stride = 1};
    const Problem own = problem();
    const cpu::Forward call = {.segments = {&segment, 1},
                               .problem = &own,
                               .dtype = call_.dtype,
                               .Hq = call_.Hq,
                               .Hk = call_.Hk,
                               .D = call_.D,
                               .Dv = call_.Dv};
    const cpu::Target& target = *cpu::find_target(name);
    cpu::ForwardRun run(target, call, threads);
    const std::size_t bytes = run.scratch_bytes();
    const Guarded scratch(bytes, Edge::back);
    run.run({scratch.data(), bytes});
    return results;
  }

 private:
  [[nodiscard]] Tensor queries() const {
    Tensor q(DType::f32, {1, call_.Hq, call_.Tq, call_.D});
    std::ranges::transform(normal(1, q.size()), q.values<float>().begin(),
                           [&](float number) { return number * call_.query_size; });
    for (std::int64_t n = 0; n < q.size() && call_.outlier != 0; n += call_.D) {
      q.values<float>()[static_cast<std::size_t>(n)] = call_.outlier;
    }
    return q.to(call_.dtype);
  }

  [[nodiscard]] std::vector<float> numbers(std::uint64_t seed, std::int64_t width) const {
    std::vector<float> rows = normal(seed, call_.Hk * call_.Tk * width);
    for (std::int64_t j = 0; j < call_.Tk; ++j) {
      if (call_.poison != 0 && !seen(j)) fill(rows, j, width, call_.poison);
    }
    if (call_.loud_value != 0 && seed == 3) rows[static_cast<std::size_t>(call_.Tk / 2 * width)] = call_.loud_value;
    if (call_.loud_key != 0 && seed == 2) fill(rows, call_.Tk / 2, width, call_.loud_key);
    for (std::int64_t j = 0; j < call_.Hk * call_.Tk; ++j) {
      float* row = rows.data() + j * width;
      if (call_.outlier != 0 && seed == 2) row[0] = 0;
      if (call_.loud_row != 1 && seed == 3 && j == call_.Tk / 2) std::fill_n(row + 1, width - 1, 0.0F);
    }
    return rows;
  }

  [[nodiscard]] bool seen(std::int64_t j) const {
    for (std::int64_t n = 0; n < call_.Hq * call_.Tq; ++n) {
      if (call_.mask.allows({.b = 0, .h = n / call_.Tq, .i = n % call_.Tq, .j = j}, shape_)) return true;
    }
    return false;
  }

  void fill(std::vector<float>& rows, std::int64_t j, std::int64_t width, float number) const {
    for (std::int64_t h = 0; h < call_.Hk; ++h) {
      std::fill_n(rows.begin() + (h * call_.Tk + j) * width, width, number);
    }
  }

  Call call_;
  MaskShape shape_;
  Tensor q_;
  Stored k_;
  Stored v_;
};

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (const CpuTarget& target : cpu_targets()) {
    if (target.runs_here && cpu::find_target(target.name) != nullptr) names.emplace_back(target.name);
  }
  return names;
}

class FewQueries : public testing::TestWithParam<Call> {};

// The bound is twice the error of the plain computation; one rounding of the result stands in where that is luckier.
// Beside a loud row of values only the elements that it has no part in are looked at.
TEST_P(FewQueries, AreAsPreciseAsThePlainComputation) {
  const Sample sample(GetParam());
  const auto error_of = [](const Tensor& got, const Tensor& expected) {
    const std::int64_t first = GetParam().loud_row != 1 && got.rank() == 4 ? 1 : 0;
    const int axis = got.rank() - 1;
    return kernels::error_of(got.view().slice(axis, first, got.dim(axis)),
                             expected.view().slice(axis, first, expected.dim(axis)));
  };
  const Results expected = exact(sample.problem(), sample.values());
  const Results plain_results = plain(sample.problem(), sample.values());
  const double out_bound = std::max(2 * error_of(plain_results.out, expected.out), 4e-7);
  const double lse_bound = std::max(2 * error_of(plain_results.lse, expected.lse), 1e-6);
  for (const std::string& target : targets()) {
    const Results got = sample.run(target, 1);
    EXPECT_LE(error_of(got.out, expected.out), out_bound) << target;
    EXPECT_LE(error_of(got.lse, expected.lse), lse_bound) << target;
  }
}

TEST_P(FewQueries, AreTheSameOnAnyNumberOfThreads) {
  const Sample sample(GetParam());
  for (const std::string& target : targets()) {
    const Results one = sample.run(target, 1);
    for (const int threads : {2, 3}) {
      const Results many = sample.run(target, threads);
      EXPECT_EQ(error_of(many.out, one.out), 0) << target;
      EXPECT_EQ(error_of(many.lse, one.lse), 0) << target;
    }
  }
}

std::string named(const testing::TestParamInfo<Call>& info) { return info.param.name; }

std::vector<Call> storages() {
  std::vector<Call> calls;
  for (const DType stored : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
    for (const std::int64_t width : {1, 7, 8, 16, 19, 64, 80, 100, 128, 192}) {
      calls.push_back({.name = std::string(name_of(stored)) + "_D" + std::to_string(width),
                       .dtype = stored == DType::i8 ? DType::f32 : stored,
                       .stored = stored,
                       .Tk = 131,
                       .D = width,
                       .Dv = width == 80 ? 48 : width});
    }
    for (const std::int64_t page_rows : {16, 48, 64}) {
      calls.push_back({.name = std::string(name_of(stored)) + "_pages_of_" + std::to_string(page_rows),
                       .dtype = stored == DType::i8 ? DType::bf16 : stored,
                       .stored = stored,
                       .Hq = 6,
                       .Hk = 2,
                       .Tk = 2111,
                       .page_rows = page_rows});
    }
  }
  return calls;
}

INSTANTIATE_TEST_SUITE_P(Storage, FewQueries, testing::ValuesIn(storages()), named);

std::vector<Call> numbers_of_queries() {
  std::vector<Call> calls;
  for (std::int64_t queries = 1; queries <= 17; ++queries) {
    calls.push_back({.name = "heads_" + std::to_string(queries), .Hq = queries, .Hk = 1, .Tk = 65});
    calls.push_back({.name = "heads_" + std::to_string(queries) + "_of_i8",
                     .dtype = queries % 2 == 0 ? DType::bf16 : DType::f16,
                     .stored = DType::i8,
                     .Hq = queries,
                     .Hk = 1,
                     .Tk = 200,
                     .D = 128,
                     .Dv = 64});
    calls.push_back({.name = "queries_" + std::to_string(queries),
                     .dtype = DType::bf16,
                     .stored = DType::bf16,
                     .Hq = 2,
                     .Hk = 2,
                     .Tq = queries,
                     .Tk = 70,
                     .mask = causal()});
    calls.push_back({.name = "queries_" + std::to_string(queries) + "_of_i8",
                     .stored = DType::i8,
                     .Hq = 1,
                     .Tq = queries,
                     .Tk = 150,
                     .D = 64,
                     .Dv = 128,
                     .mask = causal()});
  }
  calls.push_back({.name = "heads_5_of_queries_3", .Hq = 10, .Hk = 2, .Tq = 3, .Tk = 70, .mask = causal()});
  return calls;
}

INSTANTIATE_TEST_SUITE_P(Lanes, FewQueries, testing::ValuesIn(numbers_of_queries()), named);

constexpr std::int64_t kPieceOfKeys = 2048;  // keys

// Keys beside which options are tried: of two pieces. Emulated, fewer, as many as are needed for each option to matter:
// pieces are cut there by the lengths below, and put together by the same source for every processor.
#ifdef QKV_EMULATED
constexpr std::int64_t kKeysOfOptions = 1000;
constexpr std::int64_t kKeysOfUnbounded = 200;
#else
constexpr std::int64_t kKeysOfOptions = kPieceOfKeys + 252;
constexpr std::int64_t kKeysOfUnbounded = kPieceOfKeys + 63;
#endif

std::vector<Call> lengths() {
  std::vector<Call> calls;
  for (const std::int64_t Tk : {0, 1, 15, 63, 64, 65, 2047, 2048, 2049, 4097, 5000}) {
    calls.push_back({.name = "keys_" + std::to_string(Tk), .Tk = Tk});
    calls.push_back({.name = "keys_" + std::to_string(Tk) + "_of_heads_20",
                     .Hq = 20,
                     .Tk = Tk,
                     .mask = window(700),
                     .sinks = std::vector<double>(20, 0.5)});
  }
  return calls;
}

INSTANTIATE_TEST_SUITE_P(Pieces, FewQueries, testing::ValuesIn(lengths()), named);

std::vector<Call> options() {
  const std::vector<double> sinks = {0.25, -2, 9, -std::numeric_limits<double>::infinity()};
  std::vector<Call> calls = {
      {.name = "window", .mask = window(300)},
      {.name = "window_and_first_tokens", .mask = window(300) | global_tokens(4)},
      {.name = "strided", .mask = strided(5)},
      {.name = "none", .mask = none()},
      {.name = "key_lengths", .mask = key_lengths({777})},
      {.name = "alibi", .bias = alibi()},
      {.name = "softcap", .softcap = 3},
      {.name = "dropout", .dropout = Dropout{.p = 0.3, .seed = 5}},
      {.name = "sinks", .sinks = sinks},
      {.name = "negative_scale", .scale = -0.3},
      {.name = "scale_0", .scale = 0},
      {.name = "everything",
       .mask = window(900),
       .bias = alibi(),
       .softcap = 5,
       .dropout = Dropout{.p = 0.1, .seed = 7},
       .sinks = sinks},
  };
  std::vector<Call> all = calls;
  for (Call call : calls) {
    call.name += "_of_queries_2";
    call.Tq = 2;
    call.mask = call.mask & causal();
    all.push_back(call);
  }
  for (Call& call : all) call.Tk = kKeysOfOptions;
  for (const DType stored : {DType::bf16, DType::i8}) {
    for (Call call : calls) {
      call.name += "_of_" + std::string(name_of(stored));
      call.dtype = stored == DType::bf16 ? DType::bf16 : DType::f32;
      call.stored = stored;
      call.Tk = kKeysOfOptions;
      call.D = call.Dv = 64;
      all.push_back(call);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Options, FewQueries, testing::ValuesIn(options()), named);

std::vector<Call> unbounded() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Call> calls;
  for (const DType stored : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
    for (const float number : {kNan, kInfinity, -kInfinity}) {
      const std::string name = std::string(name_of(stored)) + (number > 0   ? "_inf"
                                                               : number < 0 ? "_minus_inf"
                                                                            : "_nan");
      Call call = {.name = name + "_hidden",
                   .dtype = stored == DType::i8 ? DType::f32 : stored,
                   .stored = stored,
                   .Tk = kKeysOfUnbounded,
                   .D = 64,
                   .Dv = 64,
                   .mask = window(30) | global_tokens(3),
                   .poison = number};
      calls.push_back(call);
      call.name = name + "_hidden_with_all_options";
      call.bias = alibi();
      call.softcap = 4;
      call.dropout = Dropout{.p = 0.2, .seed = 3};
      calls.push_back(call);
      call.mask = {};
      call.name = name + "_key_seen";
      call.loud_key = number;
      calls.push_back(call);
      call.loud_key = 0;
      if (stored == DType::i8) continue;
      call.name = name + "_seen";
      call.loud_value = number;
      calls.push_back(call);
    }
  }
  const std::vector<Call> of_few = calls;
  for (Call call : of_few) {
    if (call.stored != DType::i8) continue;
    call.name += "_of_heads_20";
    call.dtype = DType::bf16;
    call.Hq = 20;
    calls.push_back(call);
  }
  // An odd width is padded to pairs, and an infinite scale must not turn the padding into NaN.
  for (const float number : {kInfinity, -kInfinity}) {
    calls.push_back({.name = std::string("odd_width_infinite_key_") + (number > 0 ? "above" : "below"),
                     .dtype = DType::bf16,
                     .stored = DType::i8,
                     .Hq = 20,
                     .Tk = 131,
                     .D = 1,
                     .Dv = 7,
                     .softcap = 4,
                     .loud_key = number});
  }
  calls.push_back({.name = "huge_seen", .Tk = kKeysOfUnbounded, .loud_value = 3e38F});
  calls.push_back({.name = "query_too_small_for_whole_numbers",
                   .stored = DType::i8,
                   .D = 64,
                   .Dv = 64,
                   .scale = 2e33,
                   .query_size = 1e-34F});
  calls.push_back({.name = "scales_below_0", .stored = DType::i8, .D = 64, .Dv = 64, .scale_sign = -1});
  calls.push_back({.name = "query_of_0", .stored = DType::i8, .D = 64, .Dv = 64, .query_size = 0});
  calls.push_back({.name = "query_too_large",
                   .stored = DType::i8,
                   .D = 64,
                   .Dv = 64,
                   .query_size = std::numeric_limits<float>::infinity()});
  return calls;
}

// One element, or one row of values, far above the others: whole numbers of 24 or 16 bits would round these away.
std::vector<Call> uneven() {
  std::vector<Call> calls;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const float times : {30.0F, 1e3F, 5e4F}) {
      Call call = {.name = std::string(name_of(dtype)) + "_query_with_" + std::to_string(static_cast<int>(times)),
                   .dtype = dtype,
                   .stored = DType::i8,
                   .Tk = 200,
                   .D = 64,
                   .Dv = 64,
                   .outlier = times};
      calls.push_back(call);
      call.name = std::string(name_of(dtype)) + "_values_times_" + std::to_string(static_cast<int>(times));
      call.outlier = 0;
      call.loud_row = times;
      calls.push_back(call);
    }
  }
  return calls;
}

INSTANTIATE_TEST_SUITE_P(Uneven, FewQueries, testing::ValuesIn(uneven()), named);

INSTANTIATE_TEST_SUITE_P(Unbounded, FewQueries, testing::ValuesIn(unbounded()), named);

}  // namespace
}  // namespace qkv::kernels::few_queries_test
