#include <vector>

#include "core/parallel.h"
#include "kernels/linear/features.h"
#include "kernels/linear/head.h"
#include "kernels/linear/linear.h"

namespace qkv::kernels::linear {
namespace {

// One batch entry and key head of linear attention with a feature map.
template <class T>
class Features {
 public:
  static std::int64_t scratch_numbers(const Tokens& tokens) {
    const std::int64_t group = tokens.q.dim(1) / tokens.k.dim(1);
    return Head<T>::scratch_numbers(tokens) + (2 + group * kChunk) * padded<T>(tokens.q.dim(3));
  }

  Features(const Tokens& tokens, FeatureMap map, std::int64_t b, std::int64_t h, T* scratch)
      : head_(tokens, b, h, scratch), loops_(loops_for<T>()), map_(map) {
    const std::int64_t padded_D = padded<T>(head_.D);
    norms_ = scratch + Head<T>::scratch_numbers(tokens);
    peaks_ = norms_ + padded_D;
    spare_ = peaks_ + padded_D;
  }

  void run(bool causal, const FeatureState& state, Tensor& out) {
    load(state);
    const std::int64_t Tq = head_.tokens.q.dim(2);
    const std::int64_t Tk = head_.tokens.k.dim(2);
    const std::int64_t pairs = causal ? std::min(Tq, Tk) : 0;
    if (causal) for_chunks(0, Tq - pairs, [&](auto i, auto count) { read(i, count, out); });
    for_chunks(0, Tk - pairs, [&](auto j, auto count) { absorb(j, count); });
    if (!causal) for_chunks(0, Tq, [&](auto i, auto count) { read(i, count, out); });
    for_chunks(0, pairs, [&](auto n, auto count) { step(Tq - pairs + n, Tk - pairs + n, count, out); });
    store(state);
  }

 private:
  void load(const FeatureState& state) {
    head_.load_state(state.sums);
    for (std::int64_t d = 0; d < head_.D; ++d) {
      norms_[d] = at(state.norms, d);
      if (map_ == FeatureMap::softmax) peaks_[d] = at(state.peaks, d);
    }
  }

  void store(const FeatureState& state) {
    head_.store_state(state.sums);
    for (std::int64_t d = 0; d < head_.D; ++d) {
      at(state.norms, d) = norms_[d];
      if (map_ == FeatureMap::softmax) at(state.peaks, d) = peaks_[d];
    }
  }

  T& at(Tensor& tensor, std::int64_t d) const {
    const std::int64_t row = head_.b * tensor.shape()[1] + head_.h;
    return static_cast<T*>(tensor.data())[row * head_.D + d];
  }

  void map_queries(std::int64_t count) {
    const std::int64_t rows = head_.group * count;
    if (map_ == FeatureMap::softmax) return softmax_rows(loops_, head_.q, rows, head_.D);
    elu_plus_one(loops_, head_.q, spare_, rows * head_.D);
  }

  void divide(T* q) const {
    if (map_ == FeatureMap::softmax) return divide_each(q, norms_, head_.D);
    divide_by_sum(q, norms_, head_.D);
  }

  // Adds keys to the state; no query of the same chunk reads them.
  void absorb(std::int64_t j, std::int64_t count) {
    head_.load_keys(j, count);
    head_.load_values(j, count);
    if (map_ == FeatureMap::softmax) {
      raise_peaks(count);
    } else {
      elu_plus_one(loops_, head_.k, spare_, count * head_.D);
    }
    for (std::int64_t t = 0; t < count; ++t) {
      for (std::int64_t d = 0; d < head_.D; ++d) norms_[d] += head_.k[t * head_.D + d];
    }
    loops_.product({.a = head_.k,
                    .row_stride = 1,
                    .step_stride = head_.D,
                    .b = head_.v,
                    .c = head_.state,
                    .rows = head_.D,
                    .steps = count,
                    .width = head_.width});
  }

  // The chunk's keys as exp(k - peak), the peak being that of the keys up to the chunk's end.
  void raise_peaks(std::int64_t count) {
    T* old = head_.keep;
    for (std::int64_t d = 0; d < head_.D; ++d) {
      old[d] = peaks_[d];
      for (std::int64_t t = 0; t < count; ++t) {
        const T x = head_.k[t * head_.D + d];
        peaks_[d] = x > peaks_[d] ? x : peaks_[d];
      }
      old[d] = old[d] == peaks_[d] ? 0 : old[d] - peaks_[d];
    }
    loops_.exponential(old, head_.D);
    for (std::int64_t d = 0; d < head_.D; ++d) {
      norms_[d] *= old[d];
      T* row = head_.state + d * head_.width;
      for (std::int64_t n = 0; n < head_.width; ++n) row[n] *= old[d];
    }
    for (std::int64_t t = 0; t < count; ++t) {
      T* key = head_.k + t * head_.D;
      for (std::int64_t d = 0; d < head_.D; ++d) key[d] = key[d] == -kInfinity<T> ? key[d] : key[d] - peaks_[d];
    }
    loops_.exponential(head_.k, count * head_.D);
  }

  void read(std::int64_t i, std::int64_t count, Tensor& out) {
    head_.load_queries(i, count);
    map_queries(count);
    const std::int64_t rows = head_.group * count;
    for (std::int64_t row = 0; row < rows; ++row) divide(head_.q + row * head_.D);
    std::fill_n(head_.out, rows * head_.width, T{0});
    loops_.product({.a = head_.q,
                    .row_stride = head_.D,
                    .step_stride = 1,
                    .b = head_.state,
                    .c = head_.out,
                    .rows = rows,
                    .steps = head_.D,
                    .width = head_.width});
    head_.store_out(i, count, out);
  }

  // Causal: key j + n is added before query i + n reads the state.
  void step(std::int64_t i, std::int64_t j, std::int64_t count, Tensor& out) {
    head_.load_keys(j, count);
    head_.load_values(j, count);
    head_.load_queries(i, count);
    map_queries(count);
    Walk<T> walk = head_.walk_of(count);
    if (map_ == FeatureMap::softmax) {
      running_exponentials(loops_, head_.k, head_.keep, peaks_, spare_, count, head_.D);
      walk.keep = head_.keep;
    } else {
      elu_plus_one(loops_, head_.k, spare_, count * head_.D);
    }
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t row = t * head_.D;
      for (std::int64_t d = 0; d < head_.D; ++d) {
        norms_[d] = norms_[d] * (walk.keep == nullptr ? T{1} : walk.keep[row + d]) + head_.k[row + d];
      }
      for (std::int64_t g = 0; g < head_.group; ++g) divide(head_.q + (g * count + t) * head_.D);
    }
    loops_.walk(walk);
    head_.store_out(i, count, out);
  }

  Head<T> head_;
  const Loops<T>& loops_;
  FeatureMap map_;
  T* norms_;
  T* peaks_;
  T* spare_;  // [group][kChunk][D]
};

template <class T>
void attend_in(const Tokens& tokens, FeatureMap features, bool causal, const FeatureState& state, Tensor& out) {
  const std::int64_t Hk = tokens.k.dim(1);
  const std::int64_t numbers = padded<T>(Features<T>::scratch_numbers(tokens));
  Tensor scratch(dtype_of_v<T>, {tokens.threads, numbers});
  core::parallel_for(tokens.threads, tokens.k.dim(0) * Hk, [&](int worker, std::int64_t task) {
    T* own = static_cast<T*>(scratch.data()) + worker * numbers;
    Features<T>(tokens, features, task / Hk, task % Hk, own).run(causal, state, out);
  });
}

}  // namespace

DType state_dtype(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

void attend(const Tokens& tokens, FeatureMap features, bool causal, const FeatureState& state, Tensor& out) {
  if (tokens.q.dtype() == DType::f64) return attend_in<double>(tokens, features, causal, state, out);
  attend_in<float>(tokens, features, causal, state, out);
}

}  // namespace qkv::kernels::linear
