// What the products of a few queries share: how many of them go through a tile together, and how the rows that come
// next are prefetched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// Prefetches rows of `bytes` a line at a time, between multiplications that use other rows. Without a branch each
/// address depends on the one before, so that prefetches do not come in bursts, which delay the multiplications and are
/// dropped in part.
class Ahead {
 public:
  [[gnu::always_inline]] Ahead(const std::byte* const* rows, std::int64_t bytes) : row_(rows), bytes_(bytes) {}

  [[gnu::always_inline]] void next() {
    fetch<Fetch::second_level>(*row_ + at_, kLine);
    at_ += kLine;
    const std::int64_t within = (at_ - bytes_) >> 63;  // all bits, or none at the end of a row
    row_ += 1 + within;
    at_ &= within;
  }

 private:
  const std::byte* const* row_;
  std::int64_t bytes_;
  std::int64_t at_ = 0;
};

/// Stands in for Ahead at the last tile, after which there is nothing to prefetch.
class NothingAhead {
 public:
  [[gnu::always_inline]] NothingAhead(const std::byte* const* /*rows*/, std::int64_t /*bytes*/) {}

  [[gnu::always_inline]] void next() {}
};

/// A core drops prefetches while it waits for as many lines as it can. Where few multiply-adds use a line, it is
/// prefetched a tile ahead and again so many rows ahead.
inline constexpr std::int64_t kAgain = 24;

/// Keeps a vector in a register: GCC would load it again for each multiplication.
template <class F>
[[gnu::always_inline]] inline F kept(F x) {
  asm("" : "+v"(x));  // NOLINT(hicpp-no-assembler)
  return x;
}

/// Queries that go through a tile together.
inline constexpr std::int64_t kRowsAtOnce = 8;

/// Calls body<Ahead>() if there are more tiles, else body<NothingAhead>().
template <class Body>
[[gnu::always_inline]] inline void with_ahead(bool more, const Body& body) {
  if (more) return body.template operator()<Ahead>();
  body.template operator()<NothingAhead>();
}

/// body<Rows>(lane) for the lanes from `lane` on, kRowsAtOnce of them or as many as are left.
template <class Body>
[[gnu::always_inline]] inline void with_rows(std::int64_t lanes, const Body& body) {
  for (std::int64_t lane = 0; lane < lanes; lane += kRowsAtOnce) {
    switch (lanes - lane) {
      case 1:
        body.template operator()<1>(lane);
        break;
      case 2:
        body.template operator()<2>(lane);
        break;
      case 3:
        body.template operator()<3>(lane);
        break;
      case 4:
        body.template operator()<4>(lane);
        break;
      case 5:
        body.template operator()<5>(lane);
        break;
      case 6:
        body.template operator()<6>(lane);
        break;
      case 7:
        body.template operator()<7>(lane);
        break;
      default:
        body.template operator()<kRowsAtOnce>(lane);
    }
  }
}

}  // namespace qkv::kernels::cpu
