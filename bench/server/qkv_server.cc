// serve.h, answered by qkv.
#include "qkv/attention.h"
#include "server/serve.h"

namespace {

class Qkv : public qkv::bench::Engine {
 public:
  void prepare(const qkv::bench::Problem& problem) override {
    options_ = {.mask = qkv::parse_mask(problem.mask), .threads = problem.threads};
    if (!problem.dense_bias) return;
    constexpr std::uint64_t kSeed = 1;
    options_.bias = qkv::dense_bias(qkv::Generator(kSeed).randn({problem.q.dim(2), problem.k.dim(2)}));
  }

  void run(const qkv::bench::Problem& problem) override {
    result_ = qkv::attention(problem.q, problem.k, problem.v, options_);
  }

  [[nodiscard]] qkv::TensorView out() const override { return result_.out; }

  [[nodiscard]] std::int64_t result_bytes() const override {
    const auto bytes_of = [](const qkv::Tensor& tensor) {
      return tensor.size() * static_cast<std::int64_t>(qkv::size_of(tensor.dtype()));
    };
    return bytes_of(result_.out) + bytes_of(result_.lse);
  }

 private:
  qkv::AttentionOptions options_;
  qkv::AttentionResult result_;
};

}  // namespace

int main() {
  Qkv engine;
  qkv::bench::serve(engine);
  return 0;
}
