// Generation, the attention part: a prompt is read at once, then one token at a time over a cache of keys and values.
#include <qkv/qkv.h>

#include <cmath>
#include <cstdio>

int main() {
  using namespace qkv;
  constexpr std::int64_t kPrompt = 100;
  constexpr std::int64_t kTokens = 128;
  Generator random(42);
  const Tensor q = random.randn({1, 8, kTokens, 64});  // [B, Hq, T, D]
  const Tensor k = random.randn({1, 2, kTokens, 64});  // [B, Hk, T, D]
  const Tensor v = random.randn({1, 2, kTokens, 64});
  const AttentionOptions options = {.mask = causal()};

  // What the steps must give: attention over all tokens at once.
  const Tensor expected = attention(q, k, v, options).out;

  KvCache cache({.format = {.Hk = 2, .D = 64}, .B = 1, .capacity = kTokens});
  double largest = 0;
  const auto read = [&](std::int64_t begin, std::int64_t end) {
    // The new tokens' keys and values go into the cache first; then their queries see all that is in it.
    cache.append(k.slice(2, begin, end), v.slice(2, begin, end));
    const Tensor out = decode(q.slice(2, begin, end), cache, options).out;
    const std::vector<double> is = out.to_vector();
    const std::vector<double> should = expected.slice(2, begin, end).to_vector();
    for (std::size_t i = 0; i < is.size(); ++i) largest = std::fmax(largest, std::fabs(is[i] - should[i]));
  };
  read(0, kPrompt);
  std::printf("after the prompt: %lld tokens in the cache\n", static_cast<long long>(cache.length(0)));
  for (std::int64_t token = kPrompt; token < kTokens; ++token) read(token, token + 1);
  std::printf("after 28 steps: %lld tokens, %lld bytes\n", static_cast<long long>(cache.length(0)),
              static_cast<long long>(cache.bytes()));
  std::printf("step by step agrees with all at once to 1e-5: %s\n", largest < 1e-5 ? "yes" : "no");

  // Speculative decoding: the tokens that were not accepted are taken back.
  cache.truncate(0, 120);
  std::printf("after truncate: %lld tokens\n", static_cast<long long>(cache.length(0)));

  // The same keys and values in 8 bits: a quarter of the memory, and a scale for each row.
  KvCache small({.format = {.Hk = 2, .D = 64, .dtype = DType::i8}, .B = 1, .capacity = kTokens});
  small.append(k, v);
  std::printf("in i8: %lld bytes\n", static_cast<long long>(small.bytes()));
  return largest < 1e-5 ? 0 : 1;
}
