// The data of a task: the state of one batch entry and key head, and the rows of some tokens.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/linear/linear.h"
#include "kernels/linear/loops.h"
#include "kernels/linear/rows.h"

namespace qkv::kernels::linear {

inline constexpr std::int64_t kChunk = 64;  // tokens whose rows are held at once

template <class T>
class Head {
 public:
  static std::int64_t scratch_numbers(const Tokens& tokens) {
    const std::int64_t D = padded<T>(tokens.q.dim(3));
    const std::int64_t width = padded<T>(tokens.v.dim(3));
    const std::int64_t group = tokens.q.dim(1) / tokens.k.dim(1);
    return D * width + kChunk * (2 * D + width + group * (D + width) + 1);
  }

  /// `scratch` has scratch_numbers(), all zero or left by another Head of the same call.
  Head(const Tokens& all, std::int64_t batch, std::int64_t head, T* scratch)
      : tokens(all),
        b(batch),
        h(head),
        D(all.q.dim(3)),
        Dv(all.v.dim(3)),
        width(padded<T>(Dv)),
        group(all.q.dim(1) / all.k.dim(1)) {
    const auto take = [&](std::int64_t rows, std::int64_t columns) {
      T* block = scratch;
      scratch += rows * columns;
      return block;
    };
    const std::int64_t padded_D = padded<T>(D);
    state = take(padded_D, width);
    k = take(kChunk, padded_D);
    keep = take(kChunk, padded_D);
    v = take(kChunk, width);
    q = take(group * kChunk, padded_D);
    out = take(group * kChunk, width);
    rate = take(kChunk, 1);
  }

  void load_state(const Tensor& sums) const { load_rows(sums.view(), b, h, 0, D, state, width); }

  void store_state(Tensor& sums) const {
    for (std::int64_t d = 0; d < D; ++d) store_row(state + d * width, sums, b, h, d);
  }

  void load_keys(std::int64_t j, std::int64_t count) const { load_rows(tokens.k, b, h, j, count, k, D); }

  void load_values(std::int64_t j, std::int64_t count) const { load_rows(tokens.v, b, h, j, count, v, width); }

  /// All query heads of the group, one after the other.
  void load_queries(std::int64_t i, std::int64_t count) const {
    for (std::int64_t g = 0; g < group; ++g) load_rows(tokens.q, b, h * group + g, i, count, q + g * count * D, D);
  }

  void store_out(std::int64_t i, std::int64_t count, Tensor& to) const {
    for (std::int64_t g = 0; g < group; ++g) {
      for (std::int64_t n = 0; n < count; ++n) store_row(out + (g * count + n) * width, to, b, h * group + g, i + n);
    }
  }

  [[nodiscard]] Walk<T> walk_of(std::int64_t count) const {
    return {.k = k,
            .v = v,
            .keep = nullptr,
            .rate = nullptr,
            .q = q,
            .state = state,
            .out = out,
            .tokens = count,
            .D = D,
            .width = width,
            .group = group};
  }

  const Tokens& tokens;
  std::int64_t b, h;
  std::int64_t D, Dv, width, group;
  T* state;  // [D][width]
  T* k;      // [kChunk][D]
  T* keep;   // [kChunk][D]
  T* v;      // [kChunk][width]
  T* q;      // [group][count][D]
  T* out;    // [group][count][width]
  T* rate;   // [kChunk]
};

/// Calls body(begin, count) for the tokens from `begin` to `end`, at most kChunk at a time.
template <class Body>
void for_chunks(std::int64_t begin, std::int64_t end, const Body& body) {
  for (; begin < end; begin += kChunk) body(begin, std::min(kChunk, end - begin));
}

}  // namespace qkv::kernels::linear
