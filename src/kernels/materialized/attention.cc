#include "kernels/materialized/attention.h"

#include <algorithm>
#include <limits>

#include "core/parallel.h"
#include "kernels/linear/loops.h"
#include "kernels/linear/rows.h"

namespace qkv::kernels::materialized {
namespace {

using linear::padded;

constexpr std::int64_t kRowsATask = 48;
constexpr std::int64_t kKeysAStep = 512;  // their values stay in the second-level cache

// Scratch of one head. Row strides are not powers of two: such rows would compete for one set of the cache.
template <class T>
class Matrix {
 public:
  explicit Matrix(const Call& call)
      : call_(call),
        loops_(linear::loops_for<T>()),
        D_(call.q.dim(3)),
        Tq_(call.q.dim(2)),
        Tk_(call.k.dim(2)),
        width_(padded<T>(call.v.dim(3))),
        row_(padded<T>(Tk_) + padded<T>(1)),
        q_(tensor(Tq_, D_)),
        k_(tensor(Tk_, D_)),
        k_columns_(tensor(D_, row_)),
        v_(tensor(Tk_, width_)),
        scores_(tensor(Tq_, row_)),
        sums_(tensor(Tq_, width_)) {}

  void run(std::int64_t b, std::int64_t h, Tensor& out) {
    const std::int64_t key_head = h / (call_.q.dim(1) / call_.k.dim(1));
    load(b, h, key_head);
    for_rows([&](std::int64_t i, std::int64_t count) { score(i, count); });
    for_rows([&](std::int64_t i, std::int64_t count) { weigh(i, count); });
    for_rows([&](std::int64_t i, std::int64_t count) { sum_values(i, count); });
    for (std::int64_t i = 0; i < Tq_; ++i) linear::store_row(at(sums_) + i * width_, out, b, h, i);
  }

 private:
  static Tensor tensor(std::int64_t rows, std::int64_t columns) { return {dtype_of_v<T>, {rows, columns}}; }
  static T* at(Tensor& tensor) { return static_cast<T*>(tensor.data()); }

  template <class Body>
  void for_rows(const Body& body) {
    const std::int64_t tasks = (Tq_ + kRowsATask - 1) / kRowsATask;
    core::parallel_for(call_.threads, tasks, [&](int /*worker*/, std::int64_t task) {
      const std::int64_t i = task * kRowsATask;
      body(i, std::min(kRowsATask, Tq_ - i));
    });
  }

  void load(std::int64_t b, std::int64_t h, std::int64_t key_head) {
    linear::load_rows(call_.q, b, h, 0, Tq_, at(q_), D_);
    linear::load_rows(call_.k, b, key_head, 0, Tk_, at(k_), D_);
    linear::load_rows(call_.v, b, key_head, 0, Tk_, at(v_), width_);
    for (std::int64_t j = 0; j < Tk_; ++j) {
      for (std::int64_t d = 0; d < D_; ++d) at(k_columns_)[d * row_ + j] = at(k_)[j * D_ + d];
    }
  }

  void score(std::int64_t i, std::int64_t count) {
    T* rows = at(scores_) + i * row_;
    std::fill_n(rows, count * row_, T{0});
    loops_.product({.a = at(q_) + i * D_,
                    .row_stride = D_,
                    .step_stride = 1,
                    .b = at(k_columns_),
                    .c = rows,
                    .rows = count,
                    .steps = D_,
                    .width = row_});
  }

  void weigh(std::int64_t i, std::int64_t count) {
    const auto scale = static_cast<T>(call_.scale);
    for (std::int64_t n = 0; n < count; ++n) {
      T* row = at(scores_) + (i + n) * row_;
      const std::int64_t seen = call_.causal ? std::clamp<std::int64_t>(i + n + Tk_ - Tq_ + 1, 0, Tk_) : Tk_;
      T peak = -std::numeric_limits<T>::infinity();
      for (std::int64_t j = 0; j < seen; ++j) {
        row[j] *= scale;
        peak = row[j] > peak ? row[j] : peak;
      }
      for (std::int64_t j = 0; j < seen; ++j) row[j] -= peak;
      std::fill(row + seen, row + row_, -std::numeric_limits<T>::infinity());
      loops_.exponential(row, Tk_);
      const T sum = total(row, seen);
      for (std::int64_t j = 0; j < seen; ++j) row[j] /= sum;
      std::fill(row + seen, row + row_, T{0});
    }
  }

  // In several partial sums, so that the compiler vectorises it.
  static T total(const T* x, std::int64_t count) {
    constexpr std::int64_t kParts = 16;
    T parts[kParts] = {};
    std::int64_t n = 0;
    for (; n + kParts <= count; n += kParts) {
      for (std::int64_t p = 0; p < kParts; ++p) parts[p] += x[n + p];
    }
    for (; n < count; ++n) parts[0] += x[n];
    for (std::int64_t p = 1; p < kParts; ++p) parts[0] += parts[p];
    return parts[0];
  }

  void sum_values(std::int64_t i, std::int64_t count) {
    std::fill_n(at(sums_) + i * width_, count * width_, T{0});
    for (std::int64_t j = 0; j < Tk_; j += kKeysAStep) {
      loops_.product({.a = at(scores_) + i * row_ + j,
                      .row_stride = row_,
                      .step_stride = 1,
                      .b = at(v_) + j * width_,
                      .c = at(sums_) + i * width_,
                      .rows = count,
                      .steps = std::min(kKeysAStep, Tk_ - j),
                      .width = width_});
    }
  }

  const Call& call_;
  const linear::Loops<T>& loops_;
  std::int64_t D_, Tq_, Tk_, width_, row_;
  Tensor q_, k_, k_columns_, v_, scores_, sums_;
};

template <class T>
void forward_in(const Call& call, Tensor& out) {
  Matrix<T> matrix(call);
  for (std::int64_t b = 0; b < call.q.dim(0); ++b) {
    for (std::int64_t h = 0; h < call.q.dim(1); ++h) matrix.run(b, h, out);
  }
}

}  // namespace

void forward(const Call& call, Tensor& out) {
  if (call.q.dtype() == DType::f64) return forward_in<double>(call, out);
  forward_in<float>(call, out);
}

}  // namespace qkv::kernels::materialized
