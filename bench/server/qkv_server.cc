// serve.h, answered by qkv.
#include "qkv/attention.h"
#include "server/serve.h"

namespace {

class Qkv : public qkv::bench::Engine {
 public:
  void prepare(const qkv::bench::Problem& problem) override {
    options_ = {.mask = qkv::parse_mask(problem.mask), .threads = problem.threads};
    if (problem.dense_bias) {
      constexpr std::uint64_t kSeed = 1;
      options_.bias = qkv::dense_bias(qkv::Generator(kSeed).randn({problem.q.dim(2), problem.k.dim(2)}));
    }
    const qkv::Shape rows = {problem.q.dim(0), problem.q.dim(1), problem.q.dim(2)};
    out_ = qkv::Tensor(problem.q.dtype(), rows.inserted(3, problem.v.dim(3)));
    lse_ = qkv::Tensor(qkv::DType::f32, rows);
  }

  // Makes the plan of the mask, and its scratch, in each call.
  void run(const qkv::bench::Problem& problem) override {
    qkv::attention_into(out_, lse_, problem.q, problem.k, problem.v, options_);
  }

  [[nodiscard]] qkv::TensorView out() const override { return out_; }

  [[nodiscard]] std::int64_t scratch_bytes(const qkv::bench::Problem& problem) const override {
    return static_cast<std::int64_t>(qkv::attention_scratch_bytes(problem.q, problem.k, problem.v, options_));
  }

 private:
  qkv::AttentionOptions options_;
  qkv::Tensor out_;
  qkv::Tensor lse_;
};

}  // namespace

int main() {
  Qkv engine;
  qkv::bench::serve(engine);
  return 0;
}
