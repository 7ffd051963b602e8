// The chapter's attention by qkv: one call, and the weights as an intermediate of it.
#include <qkv/attention.h>

#include <cstdio>

int main() {
  using namespace qkv;
  const char* const tokens[] = {"the", "cat", "sat"};
  const Tensor q(std::vector<double>{1, 0, 0, 1, 1, 1}, {1, 1, 3, 2});  // [B, Hq, Tq, D]
  const Tensor& k = q;
  const Tensor v(std::vector<double>{2, 0, 0, 3, 1, 1}, {1, 1, 3, 2});  // [B, Hk, Tk, Dv]
  const Tensor weights = attention_stage(q, k, {}, Stage::weights);     // [B, Hq, Tq, Tk]
  const Tensor y = attention(q, k, v).out;
  for (std::int64_t i = 0; i < 3; ++i) {
    std::printf("%s  weights %.3f %.3f %.3f  y %.3f %.3f\n", tokens[i], weights.at({0, 0, i, 0}),
                weights.at({0, 0, i, 1}), weights.at({0, 0, i, 2}), y.at({0, 0, i, 0}), y.at({0, 0, i, 1}));
  }
}
