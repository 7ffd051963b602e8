// Loops over elements: dense, and broadcast.
#pragma once

#include "autograd/real.h"
#include "autograd/staged.h"

namespace qkv::autograd {

/// out = function(x), of one dtype and size, dense; out may be x.
template <class Function>
void map(Value& out, const Value& x, const Function& function) {
  with_computed(x.dtype(), [&]<class Real>(Real) {
    const StagedIn<Real> read(x.view);
    const StagedOut<Real> write(out);
    for_pieces(x.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      Room<Real> room;
      for_staged<Real>(x.dtype(), begin, end, [&](std::int64_t first, std::int64_t count) {
        const Real* from = read.at(first, count, room.elements);
        Real* to = write.at(first, room.elements);
        vectorised<Real>([&]() QKV_INLINED {
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < count; ++i) to[i] = function(from[i]);
        });
        write.finish(first, count, room.elements);
      });
    });
  });
}

/// function(x, out, slope) writes two results, each rounded to the dtype; all dense and of one dtype and size.
template <class Function>
void map_with_slope(Value& out, Value& slope, const Value& x, const Function& function) {
  with_computed(x.dtype(), [&]<class Real>(Real) {
    const StagedIn<Real> read(x.view);
    const StagedOut<Real> write(out);
    const StagedOut<Real> write_slope(slope);
    for_pieces(x.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      Room<Real> room;
      Room<Real> slope_room;
      for_staged<Real>(x.dtype(), begin, end, [&](std::int64_t first, std::int64_t count) {
        const Real* from = read.at(first, count, room.elements);
        Real* to = write.at(first, room.elements);
        Real* slopes = write_slope.at(first, slope_room.elements);
        vectorised<Real>([&]() QKV_INLINED {
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < count; ++i) {
            Real result;
            Real derivative;
            function(from[i], result, derivative);
            to[i] = result;
            slopes[i] = derivative;
          }
        });
        write.finish(first, count, room.elements);
        write_slope.finish(first, count, slope_room.elements);
      });
    });
  });
}

/// out = function(a, b), of one dtype and size, all dense; out may be a or b.
template <class Function>
void map(Value& out, const Value& a, const Value& b, const Function& function) {
  with_computed(a.dtype(), [&]<class Real>(Real) {
    const StagedIn<Real> read_a(a.view);
    const StagedIn<Real> read_b(b.view);
    const StagedOut<Real> write(out);
    for_pieces(a.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      Room<Real> room_a;
      Room<Real> room_b;
      for_staged<Real>(a.dtype(), begin, end, [&](std::int64_t first, std::int64_t count) {
        const Real* left = read_a.at(first, count, room_a.elements);
        const Real* right = read_b.at(first, count, room_b.elements);
        Real* to = write.at(first, room_a.elements);
        vectorised<Real>([&]() QKV_INLINED {
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < count; ++i) to[i] = function(left[i], right[i]);
        });
        write.finish(first, count, room_a.elements);
      });
    });
  });
}

/// Elements along an axis of a view, `step` apart.
template <class E>
struct Axis {
  const E* first;
  std::int64_t step;
};

/// `count` elements from element `first` of x on.
template <class E>
Axis<E> staged_axis(const TensorView& x, const StagedIn<E>& read, std::int64_t first, std::int64_t step,
                    std::int64_t count, E* room) {
  if (read.direct() != nullptr) return {read.direct() + first, step};
  if constexpr (std::is_same_v<E, float>) {
    if (step == 0) return {read.at(first, 1, room), 0};
    if (step != 1) {
      std::uint16_t gathered[kStaged];
      for (std::int64_t i = 0; i < count; ++i) gathered[i] = *halves(x, first + i * step);
      kernels::chosen_loops().widen(x.dtype(), gathered, count, room);
      return {room, 1};
    }
  }
  return {read.at(first, count, room), step};
}

/// out = function(a, b) where a and b broadcast to the dense `out`; all of one dtype. For functions of few operations.
template <class Function>
void map_broadcast(Value& out, const TensorView& a, const TensorView& b, const Function& function) {
  const Shape& shape = out.shape();
  const Walk<3> walk =
      merged<3>(shape, {contiguous_strides(shape), a.broadcast_to(shape).strides(), b.broadcast_to(shape).strides()});
  const int inner = walk.rank - 1;
  const std::int64_t step_a = walk.strides[1][inner];
  const std::int64_t step_b = walk.strides[2][inner];
  with_stored(out.dtype(), [&]<class E>(E) {
    const StagedIn<E> read_a(a);
    const StagedIn<E> read_b(b);
    const StagedOut<E> write(out);
    const auto loop = [&](const Axis<E>& l, const Axis<E>& r, E* o, std::int64_t count) {
      vectorised<E>([&, l, r, o, count]() QKV_INLINED {
        const auto run = [&](std::int64_t by_l, std::int64_t by_r) QKV_INLINED {
          QKV_SAME_INDEX
          for (std::int64_t i = 0; i < count; ++i) {
            store(o[i], function(load(l.first[i * by_l]), load(r.first[i * by_r])));
          }
        };
        if (l.step == 1 && r.step == 1) return run(1, 1);
        if (l.step == 1 && r.step == 0) return run(1, 0);
        if (l.step == 0 && r.step == 1) return run(0, 1);
        run(l.step, r.step);
      });
    };
    for_runs<3>(walk, [&](const std::array<std::int64_t, 3>& offsets, std::int64_t whole) {
      if (!is_staged<E>(out.dtype())) {
        return loop({read_a.direct() + offsets[1], step_a}, {read_b.direct() + offsets[2], step_b},
                    write.at(offsets[0], nullptr), whole);
      }
      Room<E> room_a;
      Room<E> room_b;
      Room<E> room;
      for (std::int64_t first = 0; first < whole; first += kStaged) {
        const std::int64_t count = std::min(kStaged, whole - first);
        loop(staged_axis(a, read_a, offsets[1] + first * step_a, step_a, count, room_a.elements),
             staged_axis(b, read_b, offsets[2] + first * step_b, step_b, count, room_b.elements), room.elements, count);
        write.finish(offsets[0] + first, count, room.elements);
      }
    });
  });
}

}  // namespace qkv::autograd
