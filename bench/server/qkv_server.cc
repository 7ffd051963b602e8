// serve.h, answered by qkv.
#include "qkv/attention.h"
#include "qkv/backward.h"
#include "server/serve.h"

namespace {

using qkv::bench::Call;
using qkv::bench::Problem;

std::int64_t bytes_of(const qkv::TensorView& x) {
  return x.size() * static_cast<std::int64_t>(qkv::size_of(x.dtype()));
}

class Qkv : public qkv::bench::Engine {
 public:
  void prepare(const Problem& problem) override {
    constexpr std::uint64_t kSeed = 1;
    options_ = {.mask = qkv::parse_mask(problem.mask), .threads = problem.threads};
    if (problem.dense_bias) {
      options_.bias = qkv::dense_bias(qkv::Generator(kSeed).randn({problem.q.dim(2), problem.k.dim(2)}));
    }
    if (problem.dropout != 0) options_.dropout = qkv::Dropout{.p = problem.dropout, .seed = kSeed};
    gradients_ = {};
    if (problem.call == Call::both) return;
    const qkv::Shape rows = {problem.q.dim(0), problem.q.dim(1), problem.q.dim(2)};
    forward_.out = qkv::Tensor(problem.q.dtype(), rows.inserted(3, problem.v.dim(3)));
    forward_.lse = qkv::Tensor(qkv::DType::f32, rows);
    if (problem.call == Call::backward) attend(problem);
  }

  // Makes the plan of the mask, and its scratch, in each call.
  void run(const Problem& problem) override {
    if (problem.call == Call::forward) return attend(problem);
    if (problem.call == Call::both) forward_ = qkv::attention(problem.q, problem.k, problem.v, options_);
    gradients_ =
        qkv::attention_backward(problem.d_out, problem.q, problem.k, problem.v, forward_.out, forward_.lse, options_);
    allocated_ = bytes_of(gradients_.d_q) + bytes_of(gradients_.d_k) + bytes_of(gradients_.d_v);
    for (const qkv::Tensor& gradient : gradients_.d_bias) allocated_ += bytes_of(gradient);
    if (problem.call == Call::both) allocated_ += bytes_of(forward_.out) + bytes_of(forward_.lse);
  }

  [[nodiscard]] std::vector<qkv::TensorView> results(const Problem& problem) const override {
    if (problem.call == Call::forward) return {forward_.out};
    return {gradients_.d_q, gradients_.d_k, gradients_.d_v};
  }

  [[nodiscard]] std::int64_t allocated_result_bytes() const override { return allocated_; }

  [[nodiscard]] std::int64_t scratch_bytes(const Problem& problem) const override {
    if (problem.call != Call::forward) return 0;
    return static_cast<std::int64_t>(qkv::attention_scratch_bytes(problem.q, problem.k, problem.v, options_));
  }

 private:
  void attend(const Problem& problem) {
    qkv::attention_into(forward_.out, forward_.lse, problem.q, problem.k, problem.v, options_);
  }

  qkv::AttentionOptions options_;
  qkv::AttentionResult forward_;
  qkv::AttentionGradients gradients_;
  std::int64_t allocated_ = 0;
};

}  // namespace

int main() {
  Qkv engine;
  qkv::bench::serve(engine);
  return 0;
}
