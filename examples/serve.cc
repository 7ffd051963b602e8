// Serving, the attention part: many sequences of unequal lengths over one pool of pages, a prompt that all begin with.
#include <qkv/qkv.h>

#include <cmath>
#include <cstdio>

int main() {
  using namespace qkv;
  constexpr std::int64_t kPrompt = 512;
  constexpr std::int64_t kUsers = 6;
  Generator random(42);
  const KvPages pool({.format = {.Hk = 2, .D = 64, .dtype = DType::bf16}, .pages = 40, .page_tokens = 64});

  // The system prompt is read once. Each user's sequence goes on from its pages.
  KvCache prompt(pool, 1);
  prompt.append(0, random.randn({2, kPrompt, 64}), random.randn({2, kPrompt, 64}));  // [Hk, T, D]: keys, values
  KvCache users = prompt.fork(std::vector<std::int64_t>(kUsers, 0));
  for (std::int64_t b = 0; b < kUsers; ++b) {
    const std::int64_t tokens = 10 + 30 * b;
    users.append(b, random.randn({2, tokens, 64}), random.randn({2, tokens, 64}));
  }
  std::printf("%lld pages free of %lld: the prompt's are shared\n", static_cast<long long>(pool.free_pages()),
              static_cast<long long>(pool.pages()));

  // A step: one query for each user. The shared pages are read once for all of them.
  const Tensor q = random.randn({kUsers, 8, 1, 64});  // [B, Hq, 1, D]
  const AttentionResult step = decode(q, users);

  // What it must give: attention of each user over its own keys and values.
  double largest = 0;
  for (std::int64_t b = 0; b < kUsers; ++b) {
    const KvCacheView cache = users;
    const Tensor k = cache.keys(b);  // [Hk, length, D]
    const Tensor v = cache.values(b);
    const TensorView own = step.out.view().slice(0, b, b + 1);
    const Tensor expected = attention(q.view().slice(0, b, b + 1), k.view().unsqueeze(0), v.view().unsqueeze(0)).out;
    const std::vector<double> is = own.to_vector();
    const std::vector<double> should = expected.to_vector();
    for (std::size_t i = 0; i < is.size(); ++i) largest = std::fmax(largest, std::fabs(is[i] - should[i]));
    std::printf("user %lld: %lld tokens\n", static_cast<long long>(b), static_cast<long long>(cache.length(b)));
  }
  std::printf("each as attention by itself to 1e-5: %s\n", largest < 1e-5 ? "yes" : "no");
  return largest < 1e-5 ? 0 : 1;
}
