// One problem of attention as a handful of numbers and words: a row of the table of cases, a draw of the fuzzer, or a
// line of text that repeats it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "qkv/attention.h"

namespace qkv::cases {

/// How q, k and v lie in memory. Everything between their elements is NaN.
enum class Layout : std::uint8_t {
  dense,
  token_major,  // [B, T, H, D] seen as [B, H, T, D]
  gapped,       // rows D + 5 apart, one element off the start
  page_rows,    // rows a multiple of 4096 bytes apart
  one_batch,    // stride 0 from batch entry to batch entry
  one_head,     // stride 0 from head to head
  one_row,      // stride 0 from token to token
  reversed,     // tokens from the last to the first
  columns,      // two elements from column to column
};
inline constexpr int kLayouts = 9;

/// What q, k and v hold.
enum class Values : std::uint8_t {
  normal,
  equal,    // all keys and all values the same
  one_hot,  // one column of each row of q: products without rounding
  outlier,  // one key a thousand times the others
  huge_k,   // a quarter of the elements of k 1e30 times the others; 1e3 times in f16
  huge_q,
  huge_v,
  tiny,  // around the smallest normal number of the dtype
};
inline constexpr int kValues = 8;

enum class Scale : std::uint8_t { usual, zero, negative, large };
inline constexpr int kScales = 4;

enum class Sinks : std::uint8_t { none, mild, ruling };
inline constexpr int kSinks = 3;

/// Where k and v come from: the tensors as they are, or a cache of a type, which decode() reads.
enum class Cache : std::uint8_t { none, f32, f16, bf16, i8 };
inline constexpr int kCaches = 5;

struct Case {
  DType dtype = DType::f32;
  std::int64_t B = 1;
  std::int64_t Hk = 1;
  std::int64_t group = 1;
  std::int64_t Tq = 1;
  std::int64_t Tk = 1;
  std::int64_t D = 1;
  std::int64_t Dv = 1;
  std::string_view mask = "all";   // a name of masks()
  std::string_view bias = "zero";  // a name of biases()
  Scale scale = Scale::usual;
  double softcap = 0;  // 0: none
  double dropout = 0;
  Sinks sinks = Sinks::none;
  Layout q = Layout::dense;
  Layout k = Layout::dense;
  Layout v = Layout::dense;
  Layout out = Layout::dense;  // dense, token_major or gapped
  Values values = Values::normal;
  std::int64_t specials = 0;  // elements of q, k and v that become NaN, inf or -inf
  Cache cache = Cache::none;  // contiguous if the seed is even, in pages if it is odd
  bool poison = false;        // keys and values that no query sees become NaN
  int threads = 1;
  std::uint64_t seed = 0;

  [[nodiscard]] std::int64_t Hq() const { return Hk * group; }
  [[nodiscard]] MaskShape shape() const { return {.B = B, .H = Hq(), .Tq = Tq, .Tk = Tk}; }
};

/// "dtype=f32 B=1 …": every field that differs from a Case{}, so that a small case is a short line.
[[nodiscard]] std::string to_text(const Case& one);

/// Throws InvalidArgument for a word that it does not know.
[[nodiscard]] Case parse_case(std::string_view text);

/// A mask or bias of the table. Made from the seed where it has numbers of its own.
template <class Made>
struct Named {
  std::string_view name;
  Made (*make)(const MaskShape& shape, std::uint64_t seed);
};

[[nodiscard]] std::span<const Named<Mask>> masks();
[[nodiscard]] std::span<const Named<Bias>> biases();
[[nodiscard]] Mask mask_of(const Case& one);
[[nodiscard]] Bias bias_of(const Case& one);

}  // namespace qkv::cases
