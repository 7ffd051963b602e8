// Dense elements as the numbers that loops compute with: f64 and f32 where they lie, 16 bits converted to f32 and back,
// so that no loop is compiled for types of 16 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "autograd/real.h"
#include "autograd/storage.h"

namespace qkv::autograd {

/// Elements that are converted at a time: those of a few operands fit the first level of cache.
inline constexpr std::int64_t kStaged = 1024;

/// Room for them, not initialised; none where E is what is stored.
template <class E>
struct Room {
  Room() {}  // NOLINT(modernize-use-equals-default,cppcoreguidelines-pro-type-member-init): which would write zeros
  E elements[std::is_same_v<E, float> ? kStaged : 1];
};

inline const std::uint16_t* halves(const TensorView& x, std::int64_t first) {
  return static_cast<const std::uint16_t*>(x.data()) + first;
}

/// True where elements of `dtype` are converted for a loop over E.
template <class E>
bool is_staged(DType dtype) {
  return std::is_same_v<E, float> && is_half(dtype);
}

/// Reads a dense value of the dtype of E, or where E is float of 16 bits.
template <class E>
class StagedIn {
 public:
  explicit StagedIn(const TensorView& x) : x_(x), first_(is_staged<E>(x.dtype()) ? nullptr : x.data_as<E>()) {}

  /// The elements where they lie; null where they are converted.
  [[nodiscard]] const E* direct() const { return first_; }
  /// Elements [first, first + count): where they lie, or converted into `room`.
  [[nodiscard]] QKV_INLINED const E* at(std::int64_t first, [[maybe_unused]] std::int64_t count,
                                        [[maybe_unused]] E* room) const {
    if constexpr (std::is_same_v<E, float>) {
      if (first_ == nullptr) {
        kernels::chosen_loops().widen(x_.dtype(), halves(x_, first), count, room);
        return room;
      }
    }
    return first_ + first;
  }

 private:
  const TensorView& x_;
  const E* first_;
};

/// body(first, count) for [begin, end) at once or, where elements are converted, kStaged at a time.
template <class E, class Body>
QKV_INLINED inline void for_staged(DType dtype, std::int64_t begin, std::int64_t end, const Body& body) {
  const std::int64_t most = is_staged<E>(dtype) ? kStaged : end - begin;
  for (std::int64_t n = begin; n < end; n += most) body(n, std::min(most, end - n));
}

/// Writes a dense value of the dtype of E, or where E is float of 16 bits.
template <class E>
class StagedOut {
 public:
  explicit StagedOut(Value& out) : out_(out), first_(is_staged<E>(out.dtype()) ? nullptr : out.data<E>()) {}

  /// Where a loop writes elements from `first` on: where they lie, or `room`.
  [[nodiscard]] QKV_INLINED E* at(std::int64_t first, [[maybe_unused]] E* room) const {
    if constexpr (std::is_same_v<E, float>) {
      if (first_ == nullptr) return room;
    }
    return first_ + first;
  }
  /// Rounds to the dtype what was written to `room`.
  QKV_INLINED void finish(std::int64_t first, std::int64_t count, const E* room) const {
    if constexpr (std::is_same_v<E, float>) {
      if (first_ != nullptr) return;
      auto* to = const_cast<std::uint16_t*>(halves(out_.view, first));
      kernels::chosen_loops().narrow(out_.dtype(), room, count, to);
    }
  }

 private:
  Value& out_;
  E* first_;
};

/// Rows of dense values of one dtype and width, one row at a time: kInputs that are read, and at most one written.
template <class Real, std::size_t kInputs>
class StagedRows {
 public:
  /// `out` may be null. Allocates a row of f32 for each where they have 16 bits.
  StagedRows(const std::array<const Value*, kInputs>& in, Value* out, std::int64_t width) : width_(width) {
    for (std::size_t i = 0; i < kInputs; ++i) in_[i].emplace(in[i]->view);
    if (out != nullptr) out_.emplace(*out);
    if (!is_staged<Real>(in[0]->dtype())) return;
    room_ = std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(width) * (kInputs + 1));
  }

  /// Goes on to row n.
  QKV_INLINED void take(std::int64_t n) {
    row_ = n;
    for (std::size_t i = 0; i < kInputs; ++i) rows_[i] = in_[i]->at(n * width_, width_, room(i));
  }
  [[nodiscard]] QKV_INLINED const Real* in(std::size_t i) const { return rows_[i]; }
  /// The row to write; null where there is none.
  [[nodiscard]] QKV_INLINED Real* out() const { return out_ ? out_->at(row_ * width_, room(kInputs)) : nullptr; }
  /// Rounds what was written to the dtype.
  QKV_INLINED void give() const {
    if (out_) out_->finish(row_ * width_, width_, room(kInputs));
  }

 private:
  [[nodiscard]] QKV_INLINED Real* room(std::size_t i) const {
    return room_ == nullptr ? nullptr : room_.get() + static_cast<std::int64_t>(i) * width_;
  }

  std::array<std::optional<StagedIn<Real>>, kInputs> in_;
  std::optional<StagedOut<Real>> out_;
  std::array<const Real*, kInputs> rows_{};
  std::int64_t width_;
  std::int64_t row_ = 0;
  std::unique_ptr<Real[]> room_;
};

}  // namespace qkv::autograd
