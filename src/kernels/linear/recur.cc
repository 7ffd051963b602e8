#include "core/parallel.h"
#include "kernels/linear/head.h"
#include "kernels/linear/linear.h"

namespace qkv::kernels::linear {
namespace {

// One batch entry and key head of the recurrence, kChunk tokens at a time.
template <class T>
class Recurrent {
 public:
  Recurrent(const Tokens& tokens, const Recurrence& recurrence, std::int64_t b, std::int64_t h, T* scratch)
      : head_(tokens, b, h, scratch), loops_(loops_for<T>()), recurrence_(recurrence) {}

  void run(Tensor& state, Tensor& out) {
    head_.load_state(state);
    for_chunks(0, head_.tokens.k.dim(2), [&](auto t, auto count) { step(t, count, out); });
    head_.store_state(state);
  }

 private:
  void step(std::int64_t t, std::int64_t count, Tensor& out) {
    head_.load_keys(t, count);
    head_.load_values(t, count);
    head_.load_queries(t, count);
    const auto scale = static_cast<T>(recurrence_.scale);
    for (std::int64_t n = 0; n < head_.group * count * head_.D; ++n) head_.q[n] *= scale;
    Walk<T> walk = head_.walk_of(count);
    if (recurrence_.decay) walk.keep = load_decay(t, count);
    if (recurrence_.beta) {
      load_rows(*recurrence_.beta, head_.b, recurrence_.beta->dim(1) == 1 ? 0 : head_.h, t, count, head_.rate, 1);
      walk.rate = head_.rate;
    }
    loops_.walk(walk);
    head_.store_out(t, count, out);
  }

  const T* load_decay(std::int64_t t, std::int64_t count) {
    const TensorView& decay = *recurrence_.decay;
    if (decay.dim(3) == head_.D) {
      load_rows(decay, head_.b, head_.h, t, count, head_.keep, head_.D);
    } else {
      load_rows(decay, head_.b, head_.h, t, count, head_.rate, 1);
      for (std::int64_t n = 0; n < count * head_.D; ++n) head_.keep[n] = head_.rate[n / head_.D];
    }
    loops_.exponential(head_.keep, count * head_.D);
    return head_.keep;
  }

  Head<T> head_;
  const Loops<T>& loops_;
  const Recurrence& recurrence_;
};

template <class T>
void recur_in(const Tokens& tokens, const Recurrence& recurrence, Tensor& state, Tensor& out) {
  const std::int64_t Hk = tokens.k.dim(1);
  const std::int64_t numbers = padded<T>(Head<T>::scratch_numbers(tokens));
  Tensor scratch(dtype_of_v<T>, {tokens.threads, numbers});
  core::parallel_for(tokens.threads, tokens.k.dim(0) * Hk, [&](int worker, std::int64_t task) {
    T* own = static_cast<T*>(scratch.data()) + worker * numbers;
    Recurrent<T>(tokens, recurrence, task / Hk, task % Hk, own).run(state, out);
  });
}

}  // namespace

void recur(const Tokens& tokens, const Recurrence& recurrence, Tensor& state, Tensor& out) {
  if (tokens.q.dtype() == DType::f64) return recur_in<double>(tokens, recurrence, state, out);
  recur_in<float>(tokens, recurrence, state, out);
}

}  // namespace qkv::kernels::linear
