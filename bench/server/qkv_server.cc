// serve.h, answered by qkv.
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "qkv/attention.h"
#include "qkv/backward.h"
#include "qkv/decode.h"
#include "server/serve.h"

namespace {

using qkv::bench::Call;
using qkv::bench::Problem;

std::int64_t bytes_of(const qkv::TensorView& x) {
  return x.size() * static_cast<std::int64_t>(qkv::size_of(x.dtype()));
}

// Rows of a batch [B, H, T, D], so many of each entry, end to end: [1, H, sum, D]; and back, with zeros for the others.
class Joined {
 public:
  explicit Joined(const std::vector<std::int64_t>& lengths) : lengths_(lengths) {}

  [[nodiscard]] qkv::Tensor join(const qkv::TensorView& batch) const {
    qkv::Tensor joined(batch.dtype(), {1, batch.dim(1), offsets().back(), batch.dim(3)});
    for_each_row(batch, [&](const auto& padded, const auto& packed, std::span<double> row) {
      batch.load_row(padded, row);
      joined.store_row(packed, row);
    });
    return joined;
  }

  [[nodiscard]] qkv::Tensor split(const qkv::TensorView& joined, const qkv::Shape& shape) const {
    qkv::Tensor batch(joined.dtype(), shape);
    for_each_row(batch, [&](const auto& padded, const auto& packed, std::span<double> row) {
      joined.load_row(packed, row);
      batch.store_row(padded, row);
    });
    return batch;
  }

  [[nodiscard]] std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> all = {0};
    for (const std::int64_t length : lengths_) all.push_back(all.back() + length);
    return all;
  }

 private:
  template <class Copy>
  void for_each_row(const qkv::TensorView& batch, const Copy& copy) const {
    std::vector<double> row(static_cast<std::size_t>(batch.dim(3)));
    std::int64_t begin = 0;
    for (std::size_t b = 0; b < lengths_.size(); begin += lengths_[b++]) {
      for (std::int64_t h = 0; h < batch.dim(1); ++h) {
        for (std::int64_t t = 0; t < lengths_[b]; ++t) {
          copy(std::array{static_cast<std::int64_t>(b), h, t}, std::array{std::int64_t{0}, h, begin + t}, row);
        }
      }
    }
  }

  const std::vector<std::int64_t>& lengths_;
};

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
    q_ = problem.q;
    k_ = problem.k;
    v_ = problem.v;
    cache_.reset();
    if (!problem.lengths.empty()) join(problem);
    if (problem.i8_cache) fill_cache(problem);
    if (problem.call == Call::both) return;
    const qkv::Shape rows = {q_.dim(0), q_.dim(1), q_.dim(2)};
    forward_.out = qkv::Tensor(q_.dtype(), rows.inserted(3, v_.dim(3)));
    forward_.lse = qkv::Tensor(qkv::DType::f32, rows);
    if (problem.call == Call::backward) attend();
  }

  // Makes the plan of the mask, and its scratch, in each call.
  void run(const Problem& problem) override {
    if (problem.call == Call::forward) return attend();
    if (problem.call == Call::both) forward_ = qkv::attention(q_, k_, v_, options_);
    gradients_ = qkv::attention_backward(problem.d_out, q_, k_, v_, forward_.out, forward_.lse, options_);
    allocated_ = bytes_of(gradients_.d_q) + bytes_of(gradients_.d_k) + bytes_of(gradients_.d_v);
    for (const qkv::Tensor& gradient : gradients_.d_bias) allocated_ += bytes_of(gradient);
    if (problem.call == Call::both) allocated_ += bytes_of(forward_.out) + bytes_of(forward_.lse);
  }

  [[nodiscard]] std::vector<qkv::TensorView> results(const Problem& problem) const override {
    if (!problem.lengths.empty()) {
      batch_ = Joined(problem.lengths).split(forward_.out, problem.q.shape());
      return {batch_};
    }
    if (problem.call == Call::forward) return {forward_.out};
    return {gradients_.d_q, gradients_.d_k, gradients_.d_v};
  }

  [[nodiscard]] std::int64_t allocated_result_bytes() const override { return allocated_; }

  [[nodiscard]] std::int64_t scratch_bytes(const Problem& problem) const override {
    if (problem.call != Call::forward) return 0;
    return static_cast<std::int64_t>(cache_ ? qkv::decode_scratch_bytes(q_, *cache_, options_)
                                            : qkv::attention_scratch_bytes(q_, k_, v_, options_));
  }

 private:
  void attend() {
    if (cache_) return qkv::decode_into(forward_.out, forward_.lse, q_, *cache_, options_);
    qkv::attention_into(forward_.out, forward_.lse, q_, k_, v_, options_);
  }

  void fill_cache(const Problem& problem) {
    if (problem.call != Call::forward) throw std::invalid_argument("no gradients of a cache here");
    const qkv::KvFormat format = {.Hk = k_.dim(1), .D = k_.dim(3), .Dv = v_.dim(3), .dtype = qkv::DType::i8};
    cache_.emplace(qkv::KvCacheOptions{.format = format, .B = k_.dim(0), .capacity = k_.dim(2)});
    cache_->append(k_, v_);
  }

  void join(const Problem& problem) {
    if (problem.call != Call::forward) throw std::invalid_argument("no gradients of texts end to end here");
    const Joined joined(problem.lengths);
    q_ = joined.join(problem.q);
    k_ = joined.join(problem.k);
    v_ = joined.join(problem.v);
    options_.ragged = qkv::Ragged{.q_offsets = joined.offsets(), .k_offsets = joined.offsets()};
  }

  qkv::Tensor q_, k_, v_;              // shared with the problem, or its texts end to end
  std::optional<qkv::KvCache> cache_;  // of k and v in i8
  qkv::AttentionOptions options_;
  qkv::AttentionResult forward_;
  mutable qkv::Tensor batch_;  // a ragged result as a batch
  qkv::AttentionGradients gradients_;
  std::int64_t allocated_ = 0;
};

}  // namespace

int main() {
  Qkv engine;
  qkv::bench::serve(engine);
  return 0;
}
