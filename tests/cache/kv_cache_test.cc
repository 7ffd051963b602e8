#include "qkv/kv_cache.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "core/error_message.h"
#include "qkv/kv.h"
#include "qkv/random.h"

namespace qkv::kv_cache_test {
namespace {

using testing::ElementsAre;

std::int64_t any_in(std::int64_t low, std::int64_t high) { return *rc::gen::inRange(low, high + 1); }

DType any_dtype() { return *rc::gen::element(DType::f32, DType::f16, DType::bf16, DType::i8); }

Tensor any_tokens(const Shape& shape) {
  std::mt19937_64 engine(*rc::gen::arbitrary<std::uint64_t>());
  std::normal_distribution<double> draw;
  Tensor tokens(DType::f64, shape);
  for (double& value : tokens.values<double>()) value = draw(engine);
  return tokens.to(*rc::gen::element(DType::f64, DType::f32, DType::f16, DType::bf16));
}

// A contiguous and a paged cache, and what they should hold: k and v of each sequence as [1, Hk, length, D], f64.
struct Trio {
  KvCache contiguous;
  KvCache paged;
  std::vector<Tensor> k;
  std::vector<Tensor> v;
};

Trio fork(const Trio& trio, const std::vector<std::int64_t>& sequences) {
  Trio forked = {trio.contiguous.fork(sequences), trio.paged.fork(sequences), {}, {}};
  for (const std::int64_t b : sequences) {
    forked.k.push_back(trio.k[static_cast<std::size_t>(b)]);
    forked.v.push_back(trio.v[static_cast<std::size_t>(b)]);
  }
  return forked;
}

void append_to_model(std::vector<Tensor>& model, std::size_t b, const TensorView& tokens) {
  model[b] = concat_time(model[b], tokens.unsqueeze(0).dtype() == DType::f64 ? tokens.unsqueeze(0)
                                                                             : Tensor(tokens.unsqueeze(0), DType::f64));
}

void append_any(Trio& trio, const KvFormat& format) {
  const std::int64_t B = trio.contiguous.B();
  std::int64_t most = 40;
  const bool single = *rc::gen::arbitrary<bool>();
  const std::int64_t b = any_in(0, B - 1);
  for (std::int64_t n = 0; n < B; ++n) {
    if (!single || n == b) most = std::min(most, trio.contiguous.capacity(n) - trio.contiguous.length(n));
  }
  const std::int64_t tokens = any_in(0, most);
  const Tensor k = any_tokens({B, format.Hk, format.D, tokens});  // transposed: any strides will do
  const Tensor v = any_tokens({B, format.Hk, tokens, *format.Dv});
  const TensorView k_view = k.view().transpose(2, 3);
  if (single) {
    trio.contiguous.append(b, k_view.select(0, b), v.view().select(0, b));
    trio.paged.append(b, k_view.select(0, b), v.view().select(0, b));
  } else {
    trio.contiguous.append(k_view, v);
    trio.paged.append(k_view, v);
  }
  for (std::int64_t n = 0; n < B; ++n) {
    if (single && n != b) continue;
    append_to_model(trio.k, static_cast<std::size_t>(n), k_view.select(0, n));
    append_to_model(trio.v, static_cast<std::size_t>(n), v.view().select(0, n));
  }
}

void truncate_any(Trio& trio) {
  const std::int64_t b = any_in(0, trio.contiguous.B() - 1);
  const std::int64_t length = any_in(0, trio.contiguous.length(b));
  trio.contiguous.truncate(b, length);
  trio.paged.truncate(b, length);
  for (std::vector<Tensor>* model : {&trio.k, &trio.v}) {
    Tensor& kept = (*model)[static_cast<std::size_t>(b)];
    kept = Tensor(kept.view().slice(2, 0, length));
  }
}

// Half of the largest of each row over 127, and what f32 does to the scale itself.
double bound_of_row(const TensorView& row) {
  double largest = 0;
  for (const double value : row.to_vector()) largest = std::max(largest, std::fabs(value));
  return largest / 127 / 2 * (1 + 0x1p-16);
}

void require_holds(const Tensor& got, const TensorView& model, DType dtype) {
  RC_ASSERT(got.shape() == model.shape());
  if (dtype != DType::i8) {
    RC_ASSERT(got.to_vector() == Tensor(model, dtype).to_vector());
    return;
  }
  for (std::int64_t h = 0; h < model.dim(0); ++h) {
    for (std::int64_t t = 0; t < model.dim(1); ++t) {
      const TensorView row = model.select(0, h).select(0, t);
      const double bound = bound_of_row(row);
      for (std::int64_t d = 0; d < model.dim(2); ++d) RC_ASSERT(std::fabs(got.at({h, t, d}) - row.at({d})) <= bound);
    }
  }
}

void require_same(const Trio& trio, DType dtype) {
  const KvCacheView contiguous = trio.contiguous.view();
  const KvCacheView paged = trio.paged.view();
  RC_ASSERT(contiguous.lengths() == paged.lengths());
  for (std::int64_t b = 0; b < contiguous.B(); ++b) {
    const Tensor k = contiguous.keys(b, DType::f64);
    const Tensor v = contiguous.values(b, DType::f64);
    RC_ASSERT(paged.keys(b, DType::f64).to_vector() == k.to_vector());
    RC_ASSERT(paged.values(b, DType::f64).to_vector() == v.to_vector());
    require_holds(k, trio.k[static_cast<std::size_t>(b)].view().select(0, 0), dtype);
    require_holds(v, trio.v[static_cast<std::size_t>(b)].view().select(0, 0), dtype);
  }
}

RC_GTEST_PROP(KvCacheProperty, HoldsWhatPlainTensorsWould, ()) {
  const KvFormat format{.Hk = any_in(1, 2), .D = any_in(1, 5), .Dv = any_in(0, 3), .dtype = any_dtype()};
  const std::int64_t B = any_in(1, 3);
  KvPages pool({.format = format, .pages = 120, .page_tokens = 16});
  {
    std::vector<Trio> trios;
    trios.push_back({KvCache({.format = format, .B = B, .capacity = 60}), KvCache(pool, B), {}, {}});
    for (std::int64_t b = 0; b < B; ++b) {
      trios[0].k.emplace_back(DType::f64, Shape{1, format.Hk, 0, format.D});
      trios[0].v.emplace_back(DType::f64, Shape{1, format.Hk, 0, *format.Dv});
    }
    for (std::int64_t steps = any_in(0, 12); steps > 0; --steps) {
      Trio& trio = trios[static_cast<std::size_t>(any_in(0, static_cast<std::int64_t>(trios.size()) - 1))];
      const std::int64_t choice = any_in(0, 9);
      if (choice < 6) {
        append_any(trio, format);
      } else if (choice < 8) {
        truncate_any(trio);
      } else if (trios.size() < 4) {
        const std::int64_t last = trio.contiguous.B() - 1;
        trios.push_back(fork(trio, {any_in(0, last), any_in(0, last)}));
      } else {
        trios.erase(trios.begin() + any_in(0, 3));
      }
    }
    for (const Trio& trio : trios) require_same(trio, format.dtype);
  }
  RC_ASSERT(pool.free_pages() == pool.pages());
}

RC_GTEST_PROP(KvCacheProperty, EightBitsAreOffByHalfAScaleAtMost, ()) {
  const int exponent = *rc::gen::inRange(-170, 120);
  Tensor k(DType::f64, {1, 1, 1, 8});
  for (double& value : k.values<double>()) value = std::ldexp(static_cast<double>(any_in(-1000, 1000)), exponent);
  KvCache cache({.format = {.D = 8, .dtype = DType::i8}, .capacity = 1});
  cache.append(k, k);
  const KvCacheView view = cache;
  const double scale = view.buffers().k_scales.at({0, 0, 0});
  const Tensor got = view.keys(0, DType::f64);
  for (std::int64_t d = 0; d < 8; ++d) {
    RC_ASSERT(std::fabs(got.at({0, 0, d}) - k.at({0, 0, 0, d})) <= std::max(scale / 2, 0x1p-150));
    RC_ASSERT(std::fabs(view.buffers().k.at({0, 0, 0, d})) <= 127);
  }
}

// Rows of 1, 2, 3, … in another storage.
TEST(KvCache, MakesRoom) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
    KvCache cache({.format = {.Hk = 2, .D = 3, .Dv = 1, .dtype = dtype}, .B = 2, .capacity = 2});
    Tensor k(DType::f32, {2, 2, 2, 3});
    Tensor v(DType::f32, {2, 2, 2, 1});
    for (Tensor* x : {&k, &v}) {
      float value = 1;
      for (float& each : x->values<float>()) each = value++;
    }
    cache.append(k, v);
    cache.truncate(1, 1);
    const Tensor before = cache.view().keys(0);
    const Tensor values = cache.view().values(1);
    cache.reserve(2);
    EXPECT_EQ(cache.capacity(0), 2);
    cache.reserve(5);
    EXPECT_EQ(cache.capacity(0), 5);
    EXPECT_THAT(cache.lengths(), ElementsAre(2, 1));
    EXPECT_EQ(cache.view().keys(0).to_vector(), before.to_vector());
    EXPECT_EQ(cache.view().values(1).to_vector(), values.to_vector());
    cache.append(k, v);
    EXPECT_THAT(cache.lengths(), ElementsAre(4, 3));
  }
  // Pages are taken as they are needed.
  const KvPages pages({.format = {.Hk = 1, .D = 2}, .pages = 4, .page_tokens = 16});
  KvCache paged(pages, 1);
  paged.reserve(1000);
  EXPECT_EQ(pages.free_pages(), 4);
}

TEST(KvCache, EightBitsRoundToNearestEven) {
  KvCache cache({.format = {.D = 4, .Dv = 0, .dtype = DType::i8}, .capacity = 2});
  cache.append(Tensor(std::vector<float>{127, 0.5, 1.5, -2.5, 0, 0, 0, 0}, {1, 1, 2, 4}),
               Tensor(DType::f32, {1, 1, 2, 0}));
  const KvBuffers buffers = cache.view().buffers();
  EXPECT_THAT(buffers.k.to_vector(), ElementsAre(127, 0, 2, -2, 0, 0, 0, 0));
  EXPECT_THAT(buffers.k_scales.to_vector(), ElementsAre(1, 0));
}

TEST(KvCache, SharesPagesUntilOneOfTheirOwnersWrites) {
  const KvPages pool({.format = {.D = 1}, .pages = 4, .page_tokens = 16});
  KvCache cache(pool, 1);
  const Tensor tokens(std::vector<float>(20, 1), {1, 1, 20, 1});
  cache.append(tokens, tokens);
  KvCache forked = cache.fork();
  EXPECT_EQ(pool.free_pages(), 2);
  EXPECT_EQ(cache.bytes() + forked.bytes(), pool.bytes());
  const Tensor other(std::vector<float>{2}, {1, 1, 1, 1});
  forked.append(other, other);
  EXPECT_EQ(pool.free_pages(), 1) << "the second page was copied, the first is still shared";
  cache.append(0, other.view().select(0, 0), other.view().select(0, 0));
  EXPECT_EQ(pool.free_pages(), 1) << "the last owner of a page writes to it";
  EXPECT_EQ(forked.view().pages(0)[0], cache.view().pages(0)[0]);
  EXPECT_NE(forked.view().pages(0)[1], cache.view().pages(0)[1]);
  cache.truncate(0, 3);
  EXPECT_EQ(pool.free_pages(), 2);
  EXPECT_EQ(forked.length(0), 21);
}

TEST(KvCache, TwoSequencesOfOneForkCopyASharedPageOnce) {
  const KvPages pool({.format = {.D = 1}, .pages = 2, .page_tokens = 16});
  KvCache cache(pool, 1);
  const Tensor token(std::vector<float>{1, 2}, {2, 1, 1, 1});
  cache.append(0, token.view().select(0, 0), token.view().select(0, 0));
  KvCache two = cache.fork(std::vector<std::int64_t>{0, 0});
  cache = KvCache(pool, 0);
  EXPECT_EQ(two.capacity(0), 16);
  two.append(token, token);
  EXPECT_EQ(pool.free_pages(), 0);
  EXPECT_THAT(two.view().keys(0).to_vector(), ElementsAre(1, 1));
  EXPECT_THAT(two.view().keys(1).to_vector(), ElementsAre(1, 2));
}

TEST(KvCache, ForgetsItsFirstTokens) {
  for (const DType dtype : {DType::f32, DType::i8}) {
    const KvFormat format{.Hk = 2, .D = 3, .Dv = 2, .dtype = dtype};
    const KvPages pool({.format = format, .pages = 6, .page_tokens = 16});
    KvCache contiguous({.format = format, .B = 1, .capacity = 60});
    KvCache paged(pool, 1);
    Generator random(1);
    const Tensor k = random.randn({2, 50, 3});
    const Tensor v = random.randn({2, 50, 2});
    for (KvCache* cache : {&contiguous, &paged}) {
      cache->append(0, k, v);
      const Tensor before = cache->view().keys(0);
      const Tensor values = cache->view().values(0);
      cache->forget_first(0, 21);
      const std::int64_t gone = cache == &paged ? 16 : 21;
      EXPECT_EQ(cache->forgotten(0), gone);
      EXPECT_EQ(cache->length(0), 50 - gone);
      EXPECT_EQ(cache->view().keys(0).to_vector(), Tensor(before.view().slice(1, gone, 50)).to_vector());
      EXPECT_EQ(cache->view().values(0).to_vector(), Tensor(values.view().slice(1, gone, 50)).to_vector());
      KvCache forked = cache->fork();
      EXPECT_EQ(forked.forgotten(0), gone);
      forked.append(0, k.view().slice(1, 0, 1), v.view().slice(1, 0, 1));
      EXPECT_EQ(forked.view().keys(0).view().select(1, 50 - gone).shape(), Shape({2, 3}));
      cache->truncate(0, 3);
      EXPECT_EQ(cache->forgotten(0), gone);
      cache->truncate(0, 0);
      EXPECT_EQ(cache->forgotten(0), 0);
    }
    contiguous.append(0, k.view().slice(1, 0, 9), v.view().slice(1, 0, 9));
    contiguous.forget_first(0, 2);
    const std::vector<double> left = contiguous.view().keys(0).to_vector();
    contiguous.shrink(4);
    EXPECT_EQ(contiguous.capacity(0), 7);  // its longest
    EXPECT_EQ(contiguous.forgotten(0), 2);
    EXPECT_EQ(contiguous.view().keys(0).to_vector(), left);
  }
}

TEST(KvCache, TellsItsSizes) {
  const KvCache cache({.format = {.Hk = 2, .D = 3, .Dv = 4, .dtype = DType::i8}, .B = 2, .capacity = 5});
  EXPECT_EQ(cache.B(), 2);
  EXPECT_THAT(cache.lengths(), ElementsAre(0, 0));
  EXPECT_EQ(cache.capacity(1), 5);
  EXPECT_EQ(cache.bytes(), 2 * 2 * 5 * (3 + 4 + 2 * 4));
  const KvCacheView view = cache;
  EXPECT_EQ(view.Hk(), 2);
  EXPECT_EQ(view.D(), 3);
  EXPECT_EQ(view.Dv(), 4);
  EXPECT_EQ(view.dtype(), DType::i8);
  EXPECT_EQ(view.pages(0), nullptr);
  const KvPages pool({.format = {.Hk = 2, .D = 3, .dtype = DType::f16}, .pages = 7});
  EXPECT_EQ(pool.page_tokens(), 64);
  EXPECT_EQ(pool.bytes(), 7 * 2 * 64 * 6 * 2);
  EXPECT_EQ(KvCache(pool, 3).bytes(), 0);
  EXPECT_EQ(KvCache(pool, 3).capacity(2), 7 * 64);
}

// As serving engines lay pages out: [pages, page_tokens, Hk, D], one scale for all.
TEST(KvCacheView, ReadsBuffersOfOthers) {
  const Tensor k(std::vector<std::int8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 2, 2, 1});
  const std::vector<float> scale{0.5};
  const TensorView scales(scale.data(), DType::f32, {3, 2, 2}, {0, 0, 0});
  const TensorView rows = k.view().transpose(1, 2);
  const Tensor table(std::vector<std::int32_t>{2, 0, 1, -7}, {2, 2});
  const KvCacheView view({rows, rows, scales, scales}, table, {3, 1});
  EXPECT_THAT(view.keys(0).to_vector(), ElementsAre(4, 5, 0, 4.5, 5.5, 0.5));
  EXPECT_THAT(view.values(1).to_vector(), ElementsAre(2, 2.5));
  EXPECT_EQ(view.keys(0).shape(), Shape({2, 3, 1}));
}

}  // namespace
}  // namespace qkv::kv_cache_test
