// One call of exact attention: grouped heads, a bias and a mask together, then its gradients.
#include <qkv/qkv.h>

#include <cmath>
#include <cstdio>

namespace {

double largest_difference(const qkv::Tensor& a, const qkv::Tensor& b) {
  const std::vector<double> x = a.to_vector();
  const std::vector<double> y = b.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::fmax(largest, std::fabs(x[i] - y[i]));
  return largest;
}

}  // namespace

int main() {
  using namespace qkv;
  Generator random(42);
  const Tensor q = random.randn({1, 8, 128, 64});  // [B, Hq, Tq, D]
  const Tensor k = random.randn({1, 2, 128, 64});  // [B, Hk, Tk, D]: four query heads share a key head
  const Tensor v = random.randn({1, 2, 128, 32});  // [B, Hk, Tk, Dv]
  const AttentionOptions options = {.bias = alibi(), .mask = causal() & window(64)};

  const auto [out, lse] = attention(q, k, v, options);
  std::printf("out %s, lse %s\n", out.shape().to_string().c_str(), lse.shape().to_string().c_str());

  // Under causal() the first query sees one key, so its output is that key's value.
  std::printf("out of query 0: %.4f, v of key 0: %.4f\n", out.at({0, 0, 0, 0}), v.at({0, 0, 0, 0}));

  // The weights of a query are exp(score - lse); they sum to 1 over the 64 keys that the window leaves.
  const Tensor weights = attention_stage(q, k, options, Stage::weights);
  double sum = 0;
  int visible = 0;
  for (const double weight : weights.select(0, 0).select(0, 3).select(0, 100).to_vector()) {
    sum += weight;
    visible += weight > 0 ? 1 : 0;
  }
  std::printf("query 100 of head 3 sees %d keys; their weights sum to %.4f\n", visible, sum);

  // f64 runs on plain loops, the specification. f32 runs on the fused kernels of this processor.
  const Tensor exact = attention(q.to(DType::f64), k.to(DType::f64), v.to(DType::f64), options).out;
  const bool close = largest_difference(out, exact) < 1e-5;
  std::printf("f32 agrees with f64 to 1e-5: %s\n", close ? "yes" : "no");

  // The gradients of a loss whose gradient with respect to out is d_out.
  const Tensor d_out = random.randn(out.shape());
  const AttentionGradients gradients = attention_backward(d_out, q, k, v, out, lse, options);
  std::printf("d_q %s, d_k %s, d_v %s, d_slopes %s\n", gradients.d_q.shape().to_string().c_str(),
              gradients.d_k.shape().to_string().c_str(), gradients.d_v.shape().to_string().c_str(),
              gradients.d_bias.at(0).shape().to_string().c_str());
  return close ? 0 : 1;
}
