// Loops over elements: dense, and broadcast.
#pragma once

#include "autograd/pieces.h"
#include "autograd/real.h"
#include "autograd/storage.h"

namespace qkv::autograd {

/// out = function(x), of one dtype and size, dense; out may be x.
template <class Function>
void map(Value& out, const Value& x, const Function& function) {
  with_real(x.dtype(), [&]<class T>(T) {
    T* to = out.data<T>();
    const T* from = x.data<T>();
    for_pieces(x.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      vectorised<T>([&]() QKV_INLINED {
        QKV_SAME_INDEX
        for (std::int64_t i = begin; i < end; ++i) store(to[i], function(load(from[i])));
      });
    });
  });
}

/// function(x, out, slope) writes two results, each rounded to the dtype; all dense and of one dtype and size.
template <class Function>
void map_with_slope(Value& out, Value& slope, const Value& x, const Function& function) {
  with_real(x.dtype(), [&]<class T>(T) {
    T* to = out.data<T>();
    T* slopes = slope.data<T>();
    const T* from = x.data<T>();
    for_pieces(x.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      vectorised<T>([&]() QKV_INLINED {
        QKV_SAME_INDEX
        for (std::int64_t i = begin; i < end; ++i) {
          Computed<T> result;
          Computed<T> derivative;
          function(load(from[i]), result, derivative);
          store(to[i], result);
          store(slopes[i], derivative);
        }
      });
    });
  });
}

/// out = function(a, b), of one dtype and size, all dense; out may be a or b.
template <class Function>
void map(Value& out, const Value& a, const Value& b, const Function& function) {
  with_real(a.dtype(), [&]<class T>(T) {
    T* to = out.data<T>();
    const T* left = a.data<T>();
    const T* right = b.data<T>();
    for_pieces(a.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      vectorised<T>([&]() QKV_INLINED {
        QKV_SAME_INDEX
        for (std::int64_t i = begin; i < end; ++i) store(to[i], function(load(left[i]), load(right[i])));
      });
    });
  });
}

/// out = function(a, b) where a and b broadcast to the dense `out`; all of one dtype.
template <class Function>
void map_broadcast(Value& out, const TensorView& a, const TensorView& b, const Function& function) {
  const Shape& shape = out.shape();
  const Walk<3> walk =
      merged<3>(shape, {contiguous_strides(shape), a.broadcast_to(shape).strides(), b.broadcast_to(shape).strides()});
  const int inner = walk.rank - 1;
  const std::int64_t step_a = walk.strides[1][inner];
  const std::int64_t step_b = walk.strides[2][inner];
  with_real(out.dtype(), [&]<class T>(T) {
    T* to = out.data<T>();
    const T* left = a.data_as<T>();
    const T* right = b.data_as<T>();
    for_runs<3>(walk, [&](const std::array<std::int64_t, 3>& offsets, std::int64_t count) {
      T* o = to + offsets[0];
      const T* l = left + offsets[1];
      const T* r = right + offsets[2];
      vectorised<T>([&]() QKV_INLINED {
        const auto run = [&](std::int64_t by_a, std::int64_t by_b) QKV_INLINED {
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < count; ++i) store(o[i], function(load(l[i * by_a]), load(r[i * by_b])));
        };
        if (step_a == 1 && step_b == 1) return run(1, 1);
        if (step_a == 1 && step_b == 0) return run(1, 0);
        if (step_a == 0 && step_b == 1) return run(0, 1);
        run(step_a, step_b);
      });
    });
  });
}

/// Any view of f64, f32, bf16 or f16 into `out` of its shape, converting with one rounding.
void copy_elements(const TensorView& from, const MutableTensorView& out);

/// to += from, of one dtype and shape.
void add_elements(const TensorView& from, const MutableTensorView& to);

}  // namespace qkv::autograd
