// What a head looks at, at a length whose T x T matrix is not stored: 8192 x 8192 weights would take 256 MiB.
#include <qkv/qkv.h>

#include <cstdio>

int main() {
  using namespace qkv;
  constexpr std::int64_t kTokens = 8192;
  Generator random(42);
  const Tensor k = random.randn({1, 1, kTokens, 64});  // [B, Hk, Tk, D]
  const Tensor v = random.randn({1, 1, kTokens, 64});
  // A previous-token head: query i resembles key i - 1.
  Tensor q(DType::f32, k.shape());
  std::vector<double> row(64);
  for (std::int64_t i = 1; i < kTokens; ++i) {
    k.view().load_row(std::vector<std::int64_t>{0, 0, i - 1}, row);
    for (double& element : row) element *= 2;
    q.store_row(std::vector<std::int64_t>{0, 0, i}, row);
  }

  const AttentionOptions options = {.mask = causal()};
  const auto [out, lse] = attention(q, k, v, options);
  const Probe probe(q, k, options, lse);  // from q, k and lse any weight is computed again: exp(score - lse)

  const TopKeys top = probe.top_keys({.b = 0, .h = 0}, 1);
  for (const std::int64_t i : {1, 1000, 8191}) {
    std::printf("query %4lld attends most to key %4.0f\n", static_cast<long long>(i), top.keys.at({i, 0}));
  }
  int previous = 0;
  for (std::int64_t i = 1; i < kTokens; ++i) previous += top.keys.at({i, 0}) == static_cast<double>(i - 1) ? 1 : 0;
  std::printf("the previous token is the top key of %d of %lld queries\n", previous,
              static_cast<long long>(kTokens - 1));

  const RowStatistics rows = probe.statistics({});
  std::printf("a row's weights sum to %.3f on average\n", rows.mean(rows.mass));

  // The whole head in 4 x 4 cells; the mask hides the upper right.
  const CellMaps map = probe.map({.size = {.rows = 4, .columns = 4}});
  std::printf("share of visible pairs in each cell:\n");
  for (std::int64_t r = 0; r < 4; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) std::printf(" %.2f", map.visible.at({0, r, c}));
    std::printf("\n");
  }
  return previous == kTokens - 1 ? 0 : 1;
}
