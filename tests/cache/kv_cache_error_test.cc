// What caches refuse, and that a refusal leaves them as they were.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error_message.h"
#include "qkv/kv_cache.h"

namespace qkv::kv_cache_error_test {
namespace {

using testing::ElementsAre;

Tensor ones(const Shape& shape) { return {std::vector<float>(static_cast<std::size_t>(shape.product()), 1), shape}; }

TEST(KvCacheErrors, OfOptions) {
  const auto contiguous = [](const KvCacheOptions& options) { return error_message([&] { (void)KvCache(options); }); };
  EXPECT_EQ(contiguous({.format = {.Hk = 0}}), "KvCache: format.Hk: expected 1 or more, got 0");
  EXPECT_EQ(contiguous({.format = {.D = 0}}), "KvCache: format.D: expected 1 or more, got 0");
  EXPECT_EQ(contiguous({.format = {.Dv = -1}}), "KvCache: format.Dv: expected 0 or more, got -1");
  EXPECT_EQ(contiguous({.format = {.dtype = DType::i32}}),
            "KvCache: format.dtype: expected f64, f32, f16, bf16 or i8, got i32");
  EXPECT_EQ(contiguous({.B = -1}), "KvCache: B: expected 0 to 2147483647, got -1");
  EXPECT_EQ(contiguous({.capacity = -2}), "KvCache: capacity: expected 0 to 2147483647, got -2");
  const auto pages = [](const KvPagesOptions& options) { return error_message([&] { (void)KvPages(options); }); };
  EXPECT_EQ(pages({.page_tokens = 24}), "KvPages: page_tokens: expected a multiple of 16, got 24");
  EXPECT_EQ(pages({.page_tokens = 0}), "KvPages: page_tokens: expected a multiple of 16, got 0");
  EXPECT_EQ(pages({.pages = -1}), "KvPages: pages: expected 0 to 2147483647, got -1");
  EXPECT_EQ(pages({.format = {.D = -4}}), "KvPages: format.D: expected 1 or more, got -4");
}

TEST(KvCacheErrors, OfAppendedTokens) {
  KvCache cache({.format = {.Hk = 2, .D = 3, .Dv = 1}, .B = 2, .capacity = 4});
  const auto append = [&](const Tensor& k, const Tensor& v) { return error_message([&] { cache.append(k, v); }); };
  EXPECT_EQ(append(Tensor(DType::i32, {2, 2, 1, 3}), ones({2, 2, 1, 1})),
            "KvCache::append: k: expected f64, f32, f16 or bf16, got i32");
  EXPECT_EQ(append(ones({2, 2, 1, 4}), ones({2, 2, 1, 1})),
            "KvCache::append: k: expected [2, 2, T, 3], got [2, 2, 1, 4]");
  EXPECT_EQ(append(ones({2, 1, 3}), ones({2, 2, 1, 1})), "KvCache::append: k: expected [2, 2, T, 3], got [2, 1, 3]");
  EXPECT_EQ(append(ones({2, 2, 2, 3}), ones({2, 2, 1, 1})),
            "KvCache::append: v: expected [2, 2, 2, 1], got [2, 2, 1, 1]");
  EXPECT_EQ(error_message([&] { cache.append(1, ones({1, 2, 3}), ones({2, 2, 1})); }),
            "KvCache::append: k: expected [2, T, 3], got [1, 2, 3]");
  EXPECT_EQ(error_message([&] { cache.append(2, ones({2, 1, 3}), ones({2, 1, 1})); }),
            "KvCache::append: b: expected 0 <= b < 2, got 2");
  EXPECT_THAT(cache.lengths(), ElementsAre(0, 0));
}

TEST(KvCacheErrors, OfNumbersThatEightBitsCannotHold) {
  KvCache cache({.format = {.Hk = 1, .D = 2, .dtype = DType::i8}, .capacity = 4});
  Tensor bad = ones({1, 1, 2, 2});
  bad.set({0, 0, 1, 1}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(error_message([&] { cache.append(ones({1, 1, 2, 2}), bad); }),
            "KvCache::append: v: expected finite numbers for a cache of i8, got inf at [0, 0, 1, 1]");
  bad.set({0, 0, 1, 1}, std::nan(""));
  EXPECT_EQ(error_message([&] { cache.append(bad, ones({1, 1, 2, 2})); }),
            "KvCache::append: k: expected finite numbers for a cache of i8, got nan at [0, 0, 1, 1]");
  EXPECT_EQ(cache.length(0), 0);
  EXPECT_THAT(cache.view().buffers().k.to_vector(), testing::Each(0));
}

TEST(KvCacheErrors, OfTokensBeyondTheCapacity) {
  KvCache cache({.format = {.D = 1}, .B = 2, .capacity = 4});
  cache.append(1, ones({1, 3, 1}), ones({1, 3, 1}));
  EXPECT_EQ(error_message([&] { cache.append(ones({2, 1, 2, 1}), ones({2, 1, 2, 1})); }),
            "KvCache::append: k: expected at most 1 token for sequence 1, which holds 3 of 4, got 2");
  EXPECT_THAT(cache.lengths(), ElementsAre(0, 3));
  EXPECT_THAT(cache.view().buffers().k.to_vector(), ElementsAre(0, 0, 0, 0, 1, 1, 1, 0));
}

TEST(KvCacheErrors, OfTokensThatFindNoPage) {
  const KvPages pool({.format = {.D = 1}, .pages = 3, .page_tokens = 16});
  KvCache cache(pool, 2);
  EXPECT_EQ(
      error_message([&] { cache.append(ones({2, 1, 17, 1}), ones({2, 1, 17, 1})); }),
      "KvCache::append: k: expected tokens for the 3 pages that are free, got 17 for each of 2 sequences, which take 4 "
      "pages");
  EXPECT_EQ(pool.free_pages(), 3);
  EXPECT_EQ(error_message([&] { cache.append(0, ones({1, 49, 1}), ones({1, 49, 1})); }),
            "KvCache::append: k: expected at most 48 tokens for sequence 0, which holds 0 of 48, got 49");
  cache.append(0, ones({1, 47, 1}), ones({1, 47, 1}));
  KvCache forked = cache.fork(0);
  EXPECT_EQ(error_message([&] { forked.append(ones({1, 1, 1, 1}), ones({1, 1, 1, 1})); }),
            "KvCache::append: k: expected at most 0 tokens for sequence 0, which holds 47 of 47, got 1");
  EXPECT_EQ(forked.length(0), 47);
}

TEST(KvCacheErrors, OfPlaces) {
  KvCache cache({.format = {.D = 1}, .B = 1, .capacity = 4});
  EXPECT_EQ(error_message([&] { cache.truncate(0, 1); }),
            "KvCache::truncate: length: expected 0 to 0, the length of sequence 0, got 1");
  EXPECT_EQ(error_message([&] { cache.truncate(-1, 0); }), "KvCache::truncate: b: expected 0 <= b < 1, got -1");
  EXPECT_EQ(error_message([&] { cache.forget_first(0, 1); }),
            "KvCache::forget_first: count: expected 0 to 0, the length of sequence 0, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.forgotten(1); }), "KvCache::forgotten: b: expected 0 <= b < 1, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.fork(1); }), "KvCache::fork: b: expected 0 <= b < 1, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.length(1); }), "KvCache::length: b: expected 0 <= b < 1, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.capacity(1); }), "KvCache::capacity: b: expected 0 <= b < 1, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.view().keys(1); }), "KvCacheView: b: expected 0 <= b < 1, got 1");
  EXPECT_EQ(error_message([&] { (void)cache.view().values(0, DType::i8); }),
            "KvCacheView: dtype: expected f64, f32, f16 or bf16, got i8");
}

std::string view_message(const KvBuffers& buffers, std::vector<std::int64_t> lengths) {
  return error_message([&] { (void)KvCacheView(buffers, std::move(lengths)); });
}

TEST(KvCacheViewErrors, OfBuffers) {
  const Tensor k = ones({2, 1, 4, 3});
  const Tensor v = ones({2, 1, 4, 1});
  EXPECT_EQ(view_message({ones({2, 4, 3}), v}, {1, 1}),
            "KvCacheView: k: expected a shape [B, Hk, tokens, D], got [2, 4, 3]");
  EXPECT_EQ(view_message({k.to(DType::i32), v}, {1, 1}), "KvCacheView: k: expected f64, f32, f16, bf16 or i8, got i32");
  EXPECT_EQ(view_message({k.view().transpose(2, 3), v}, {1, 1}),
            "KvCacheView: k: expected dense rows, got strides [12, 12, 1, 3]");
  EXPECT_EQ(view_message({ones({2, 0, 4, 3}), v}, {1, 1}),
            "KvCacheView: k: expected Hk >= 1 and D >= 1, got [2, 0, 4, 3]");
  EXPECT_EQ(view_message({k, v.to(DType::f16)}, {1, 1}), "KvCacheView: v: expected f32 as k, got f16");
  EXPECT_EQ(view_message({k, ones({2, 1, 5, 1})}, {1, 1}),
            "KvCacheView: v: expected all extents but the last of k [2, 1, 4, 3], got [2, 1, 5, 1]");
  EXPECT_EQ(view_message({k, v, ones({2, 1, 4})}, {1, 1}),
            "KvCacheView: k_scales: expected none where the buffer is f32, got [2, 1, 4]");
  const Tensor integers(DType::i8, {2, 1, 4, 3});
  EXPECT_EQ(view_message({integers, integers, ones({2, 1, 4})}, {1, 1}),
            "KvCacheView: v_scales: expected f32 [2, 1, 4], got f32 [0]");
}

TEST(KvCacheViewErrors, OfLengths) {
  const Tensor k = ones({2, 1, 4, 3});
  EXPECT_EQ(view_message({k, k}, {1}), "KvCacheView: lengths: expected one for each of 2 sequences, got 1");
  EXPECT_EQ(view_message({k, k}, {1, 5}),
            "KvCacheView: lengths: expected 0 to 4 for sequence 1, as its buffer holds 4 tokens, got 5");
  EXPECT_EQ(view_message({k, k}, {-1, 4}),
            "KvCacheView: lengths: expected 0 to 4 for sequence 0, as its buffer holds 4 tokens, got -1");
}

TEST(KvCacheViewErrors, OfPageTables) {
  const Tensor k = ones({3, 1, 16, 2});
  const auto paged = [&](const TensorView& table, std::vector<std::int64_t> lengths) {
    return error_message([&] { (void)KvCacheView({k, k}, table, std::move(lengths)); });
  };
  const Tensor table(std::vector<std::int32_t>{0, 2, 1, 3}, {2, 2});
  EXPECT_EQ(paged(table, {32, 16}), "nothing was thrown");
  EXPECT_EQ(paged(table, {32, 17}),
            "KvCacheView: page_table: expected a page from 0 to 2 at [1, 1], of sequence 1, got 3");
  EXPECT_EQ(paged(Tensor(std::vector<std::int32_t>{-1}, {1, 1}), {1}),
            "KvCacheView: page_table: expected a page from 0 to 2 at [0, 0], of sequence 0, got -1");
  EXPECT_EQ(
      paged(table, {32, 33}),
      "KvCacheView: lengths: expected 0 to 32 for sequence 1, as the table has 2 pages of 16 tokens for each, got 33");
  EXPECT_EQ(paged(table, {32}), "KvCacheView: page_table: expected i32 [1, max_pages], got i32 [2, 2]");
  EXPECT_EQ(paged(Tensor(DType::i64, {2, 2}), {1, 1}),
            "KvCacheView: page_table: expected i32 [2, max_pages], got i64 [2, 2]");
  EXPECT_EQ(paged(table.view().transpose(0, 1), {1, 1}),
            "KvCacheView: page_table: expected dense rows, got strides [1, 2]");
  const Tensor hollow = ones({3, 1, 0, 2});
  EXPECT_EQ(error_message([&] { (void)KvCacheView({hollow, hollow}, table, {0, 0}); }),
            "KvCacheView: k: expected pages of 1 token or more, got [3, 1, 0, 2]");
}

}  // namespace
}  // namespace qkv::kv_cache_error_test
