// The products of a few queries with one tile of keys and values, done by the vector unit in f32.
//
// Vectors run along D and Dv: each element of a key or value is read where it lies, in its own type, and serves all
// queries. Scores and weights are [key][lane] as the softmax wants them, keys `width` apart: kWidth, or, where that is
// less, dense_width() of the lanes. Lanes without a query hold 0.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/rows.h"

namespace qkv::kernels::cpu {

/// A row whose length need not be a multiple of the lanes: whole vectors, then one that ends with the row and in which
/// elements that came before are 0. Nothing behind the row is read.
template <class S>
struct RowVectors {
  explicit RowVectors(std::int64_t elements)
      : count(elements),
        whole(elements / S::kLanes * S::kLanes),
        last(elements < S::kLanes ? 0 : elements - S::kLanes) {
    for (std::int64_t d = whole; d < count; ++d) own |= std::uint64_t{1} << (d - last);
  }

  [[nodiscard]] bool has_tail() const { return whole < count; }
  [[nodiscard]] std::int64_t padded() const { return round_up(count, S::kLanes); }
  /// The index of element d among the vectors.
  [[nodiscard]] std::int64_t place(std::int64_t d) const { return d < whole ? d : whole + d - last; }

  template <DType kType>
  [[nodiscard, gnu::always_inline]] typename S::F tail(const std::byte* row) const {
    if (last > 0) {
      return S::select(S::from_bits(own), load_as_f32<S>(row, kType, last), S::zero());
    }
    alignas(64) std::byte copy[S::kLanes * sizeof(float)] = {};
    std::memcpy(copy, row, static_cast<std::size_t>(count * bytes_of(kType)));
    return S::select(S::from_bits(own), load_as_f32<S>(copy, kType, 0), S::zero());
  }

  std::int64_t count;
  std::int64_t whole;  // elements in whole vectors
  std::int64_t last;   // the first element of the vector that ends with the row
  std::uint64_t own = 0;
};

/// Rows up to `kAhead` after one that is read may be asked for: on AVX2 on Zen 3 more than the nearest are slower.
template <class S, std::int64_t kAhead = S::kLanes == 16 ? 32 : 8>
class RowProducts {
 public:
  using Simd = S;
  static constexpr std::int64_t kWidth = S::kLanes;
  /// Lanes that there is room for.
  static constexpr std::int64_t kHeldLanes = 16;
  /// From 13 (vectors of 16) or 9 (of 8) queries on, vectors of queries are faster.
  static constexpr std::int64_t kMostLanes = (S::kLanes + 8) / 2;
  /// accumulate() finds values that are not finite, load() does not.
  static constexpr bool kChecksSums = true;

  /// Scores and weights may lie dense.
  static constexpr bool kDense = true;

  /// From one key to the next where a vector holds several keys.
  static std::int64_t dense_width(std::int64_t lanes) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(lanes)));
  }

  static constexpr bool kReadsWide = S::kLanes == 16;
  /// Rows from one to that asked for when it is read.
  static constexpr std::int64_t kNear = 8;
  /// The same long before, where that helps.
  static constexpr std::int64_t kFar = kAhead;
  static_assert(kFar >= S::kLanes);  // a vector of scores reads rows beyond the tile's

  /// The memory of a tile's rows, and of those that come after them.
  struct Rows {
    const std::byte* k[kTile + kFar];
    const std::byte* v[kTile + kFar];
    float k_scales[kTile];
    float v_scales[kTile];
  };

  struct Tile {
    Rows* rows;  // in the tile's buffer
    DType k_type;
    DType v_type;
    bool scaled;
    bool finite;  // as far as is known
    bool more;    // keys come after the tile's
    std::int64_t keys;
    float* buffer;  // for sums over the tile, then for a copy of its values
  };

  static constexpr std::int64_t kRowsFloats = sizeof(Rows) / sizeof(float);

  /// True if there are products for the call's rows.
  static bool takes(const Forward& /*call*/) { return true; }

  static std::int64_t query_floats(std::int64_t D) { return round_up(D, S::kLanes) * kHeldLanes; }
  static std::int64_t sum_floats(std::int64_t Dv) { return round_up(Dv, S::kLanes) * kHeldLanes; }
  /// Those of so many lanes, which come first.
  static std::int64_t sum_floats_of(std::int64_t lanes, std::int64_t Dv) { return round_up(Dv, S::kLanes) * lanes; }
  static std::int64_t tile_floats(std::int64_t /*D*/, std::int64_t Dv) {
    return kRowsFloats + round_up(Dv, S::kLanes) * (kHeldLanes + kTile);
  }

  /// q is [lane][vectors of D].
  static void pack_queries(const std::byte* const* rows, DType dtype, std::int64_t D, float sign, float* stage,
                           float* q) {
    const RowVectors<S> vectors(D);
    for (std::int64_t lane = 0; lane < kHeldLanes; ++lane) {
      if (rows[lane] == nullptr) continue;
      float* to = q + lane * vectors.padded();
      if (vectors.has_tail()) S::store(to + vectors.whole, S::zero());
      load_row<S>(rows[lane], dtype, D, sign, stage);
      for (std::int64_t d = 0; d < D; ++d) to[vectors.place(d)] = stage[d];
    }
  }

  static Tile load(const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys, std::int64_t /*D*/,
                   std::int64_t /*Dv*/, float* buffer) {
    Tile tile;
    tile.k_type = k.dtype;
    tile.v_type = v.dtype;
    tile.finite = true;
    tile.more = false;
    tile.keys = keys;
    tile.rows = new (buffer) Rows;
    tile.buffer = buffer + kRowsFloats;
    find_rows(k, j, keys, tile.rows->k);
    find_rows(v, j, keys, tile.rows->v);
    tile.scaled = k.scales != nullptr || v.scales != nullptr;
    if (tile.scaled) {
      find_scales(k, j, keys, tile.rows->k_scales);
      find_scales(v, j, keys, tile.rows->v_scales);
    }
    return tile;
  }

  /// To be called after load(). Says how many keys come after the tile's, which are from j on.
  static void look_ahead(Tile& tile, const KvRows& k, const KvRows& v, std::int64_t j, std::int64_t keys) {
    const std::int64_t found = keys < kFar ? keys : kFar;
    tile.more = found > 0;
    find_rows(k, j, found, tile.rows->k + tile.keys);
    find_rows(v, j, found, tile.rows->v + tile.keys);
    repeat_last_row(*tile.rows, tile.keys + found, tile.keys + kFar);
  }

  /// s[key][lane] = k . q, of kTile keys. Those beyond the tile's are of no use.
  static void scores(const Tile& tile, const float* q, std::int64_t D, std::int64_t lanes, std::int64_t width,
                     float* s) {
    clear_other_lanes(lanes, width, s);
    const RowVectors<S> vectors(D);
    with_type(tile.k_type, [&]<DType kType>() {
      for (std::int64_t lane = 0; lane < lanes; lane += kRows) {
        score_rows<kType, kRows>(lanes - lane, tile, q + lane * vectors.padded(), vectors, width,
                                 s + offset_of(lane, width));
      }
    });
    if (!tile.scaled) return;
    scale(tile.rows->k_scales, tile.keys, lanes, width, s);
    if (!are_finite(tile.rows->k_scales, tile.keys)) score_unbounded(tile, q, vectors, lanes, width, s);
  }

  /// sums[lane][vectors of Dv] += sum over keys of v[key] * w[key][lane]. Where that is not finite and `tile.finite`,
  /// leaves the sums alone and returns false. Scales of the values become part of w.
  [[nodiscard]] static bool accumulate(const Tile& tile, float* w, std::int64_t Dv, std::int64_t lanes,
                                       std::int64_t width, float* sums) {
    if (tile.scaled && tile.finite) scale(tile.rows->v_scales, tile.keys, lanes, width, w);
    const RowVectors<S> vectors(Dv);
    with_type(tile.v_type, [&]<DType kType>() {
      for (std::int64_t lane = 0; lane < lanes; lane += kRows) {
        add_rows<kType, kRows>(lanes - lane, tile, w + offset_of(lane, width), width, vectors,
                               tile.buffer + lane * vectors.padded());
      }
    });
    return add_if_finite(tile, lanes * vectors.padded(), sums);
  }

  /// The tile with zeros for the values that are not finite; the tile is of no use after it.
  static Tile finite_part(const Tile& tile, const KvRows& v, std::int64_t j, std::int64_t Dv) {
    Tile part = tile;
    part.finite = false;
    part.v_type = DType::f32;
    float* row = tile.buffer + kHeldLanes * round_up(Dv, S::kLanes);
    for (std::int64_t c = 0; c < tile.keys; ++c, row += round_up(Dv, S::kLanes)) {
      load_finite_row<S>(v.row(j + c), v.dtype, Dv, v.scale(j + c), row);
      tile.rows->v[c] = reinterpret_cast<const std::byte*>(row);
    }
    return part;
  }

  static void scale_sums(const float* factors, std::int64_t lanes, std::int64_t Dv, float* sums) {
    const std::int64_t padded = round_up(Dv, S::kLanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      float* row = sums + lane * padded;
      const typename S::F factor = S::splat(factors[lane]);
      for (std::int64_t d = 0; d < padded; d += S::kLanes) S::store(row + d, S::mul(S::load(row + d), factor));
    }
  }

  static float& sum_at(float* sums, std::int64_t Dv, std::int64_t lane, std::int64_t d) {
    const RowVectors<S> vectors(Dv);
    return sums[lane * vectors.padded() + vectors.place(d)];
  }

  /// rows[n][d] = sums of lane `lane` + n, for `lanes` of them; rows are round_up(Dv, kLanes) apart.
  static void unpack_sums(const float* sums, std::int64_t Dv, std::int64_t lane, std::int64_t lanes, float* rows) {
    const RowVectors<S> vectors(Dv);
    for (std::int64_t n = 0; n < lanes; ++n) {
      const float* from = sums + (lane + n) * vectors.padded();
      float* to = rows + n * vectors.padded();
      for (std::int64_t d = 0; d < vectors.padded(); d += S::kLanes) S::store(to + d, S::load(from + d));
      for (std::int64_t d = vectors.whole; d < Dv; ++d) to[d] = from[vectors.place(d)];
    }
  }

 protected:
  static constexpr std::int64_t offset_of(std::int64_t lane, std::int64_t width) {
    return lane / width * width * kTile + lane % width;
  }

  static void clear_other_lanes(std::int64_t lanes, std::int64_t width, float* s) {
    if (lanes % width == 0) return;
    float* strip = s + lanes / width * width * kTile;
    for (std::int64_t n = 0; n < kTile * width; n += S::kLanes) S::store(strip + n, S::zero());
  }

  static void scale(const float* scales, std::int64_t keys, std::int64_t lanes, std::int64_t width, float* s) {
    alignas(64) float repeated[(kTile + 1) * S::kLanes];
    for (std::int64_t c = 0; c < keys; ++c) S::store(repeated + c * width, S::splat(scales[c]));
    for (std::int64_t lane = 0; lane < lanes; lane += width) {
      float* strip = s + lane * kTile;
      for (std::int64_t n = 0; n < keys * width; n += S::kLanes) {
        S::store(strip + n, S::mul(S::load(strip + n), S::load(repeated + n)));
      }
    }
  }

  static bool are_finite(const float* scales, std::int64_t count) {
    bool finite = true;
    for (std::int64_t c = 0; c < count; ++c) finite &= std::isfinite(scales[c]);
    return finite;
  }

  // Scores of keys whose scale is infinite or NaN, which must be multiplied with each element, not with their sum.
  static void score_unbounded(const Tile& tile, const float* q, const RowVectors<S>& vectors, std::int64_t lanes,
                              std::int64_t width, float* s) {
    for (std::int64_t c = 0; c < tile.keys; ++c) {
      const float scale = tile.rows->k_scales[c];
      if (std::isfinite(scale)) continue;
      const auto* key = reinterpret_cast<const std::int8_t*>(tile.rows->k[c]);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        float sum = 0;
        for (std::int64_t d = 0; d < vectors.count; ++d) {
          sum += q[lane * vectors.padded() + vectors.place(d)] * (scale * static_cast<float>(key[d]));
        }
        s[offset_of(lane, width) + c * width] = sum;
      }
    }
  }

  static void repeat_last_row(Rows& rows, std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      rows.k[c] = rows.k[begin - 1];
      rows.v[c] = rows.v[begin - 1];
    }
  }

  // x holds a sum of each of Rows lanes of Keys keys.
  template <int Rows, int Keys>
  [[gnu::always_inline]] static void store_scores(typename S::F x, std::int64_t width, float* s) {
    constexpr int kStep = S::kLanes / Keys;
    if (width == kStep) return S::store(s, x);
    alignas(64) float sums[S::kLanes];
    S::store(sums, x);
    for (int n = 0; n < Keys; ++n) std::memcpy(s + n * width, sums + n * kStep, Rows * sizeof(float));
  }

  // The end of accumulate(), whose sums over the tile lie in its buffer.
  [[nodiscard]] static bool add_if_finite(const Tile& tile, std::int64_t count, float* sums) {
    if (tile.finite && !all_finite<S>(tile.buffer, 1, count, 0)) return false;
    for (std::int64_t d = 0; d < count; d += S::kLanes) {
      S::store(sums + d, S::add(S::load(sums + d), S::load(tile.buffer + d)));
    }
    return true;
  }

  // Asks for rows that are soon to be read. Those of kNear go into the first-level cache; that alone is bound by how
  // many lines the core waits for, and two neighbouring lines of each KiB, asked for long before, make the second-level
  // cache's prefetcher run ahead on Xeons.
  [[gnu::always_inline]] static void fetch_row(const std::byte* const* row, std::int64_t bytes) {
    fetch<Fetch::first_level>(row[kNear], bytes);
    if constexpr (kReadsWide) {
      constexpr std::uintptr_t kLines = 16;  // of a KiB
      for (std::int64_t byte = 0; byte < bytes; byte += kLine) {
        const std::byte* line = row[kFar] + byte;
        if (reinterpret_cast<std::uintptr_t>(line) / kLine % kLines < 2) fetch<Fetch::second_level>(line, kLine);
      }
    }
  }

  // For `count` keys from c on: rows beyond the tile's own have none after them.
  [[gnu::always_inline]] static void fetch_keys(const Tile& tile, std::int64_t c, std::int64_t count,
                                                std::int64_t bytes) {
    const std::int64_t own = tile.keys - c < count ? tile.keys - c : count;
    for (std::int64_t n = 0; n < own; ++n) fetch_row(tile.rows->k + c + n, bytes);
  }

  template <class Body>
  static void with_type(DType dtype, const Body& body) {
    switch (dtype) {
      case DType::bf16:
        return body.template operator()<DType::bf16>();
      case DType::f16:
        return body.template operator()<DType::f16>();
      case DType::i8:
        return body.template operator()<DType::i8>();
      default:
        return body.template operator()<DType::f32>();
    }
  }

 private:
  static constexpr int kRows = 4;

  template <DType kType, int Rows>
  static void score_rows(std::int64_t rows, const Tile& tile, const float* q, const RowVectors<S>& vectors,
                         std::int64_t width, float* s) {
    if constexpr (Rows > 1) {
      if (rows < Rows) return score_rows<kType, Rows - 1>(rows, tile, q, vectors, width, s);
    }
    constexpr int kKeys = S::kLanes / static_cast<int>(std::bit_ceil(static_cast<unsigned>(Rows)));
    for (std::int64_t c = 0; c < tile.keys; c += kKeys) {
      score_keys<kType, Rows, kKeys>(tile, c, q, vectors, width, s);
    }
  }

  // Reads rows beyond the tile's keys, too: look_ahead() has said where they lie.
  template <DType kType, int Rows, int Keys>
  [[gnu::always_inline]] static void score_keys(const Tile& tile, std::int64_t c, const float* q,
                                                const RowVectors<S>& vectors, std::int64_t width, float* s) {
    const std::int64_t padded = vectors.padded();
    const std::byte* k[Keys];
#pragma GCC unroll 16
    for (int n = 0; n < Keys; ++n) k[n] = tile.rows->k[c + n];
    fetch_keys(tile, c, Keys, vectors.count * bytes_of(kType));
    constexpr int kStep = S::kLanes / Keys;  // sums of a key
    typename S::F acc[S::kLanes];
#pragma GCC unroll 16
    for (int n = 0; n < S::kLanes; ++n) acc[n] = S::zero();
    const auto step = [&](std::int64_t d, const auto& key) __attribute__((always_inline)) {
      typename S::F query[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        query[r] = S::load(q + r * padded + d);
        if constexpr (requires { S::keep(query[r]); }) S::keep(query[r]);
      }
#pragma GCC unroll 16
      for (int n = 0; n < Keys; ++n) {
        const typename S::F x = key(k[n]);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) acc[n * kStep + r] = S::fma(query[r], x, acc[n * kStep + r]);
      }
    };
    for (std::int64_t d = 0; d < vectors.whole; d += S::kLanes) {
      step(d, [&](const std::byte* row) __attribute__((always_inline)) { return load_as_f32<S>(row, kType, d); });
    }
    if (vectors.has_tail()) {
      step(vectors.whole,
           [&](const std::byte* row) __attribute__((always_inline)) { return vectors.template tail<kType>(row); });
    }
    store_scores<Rows, Keys>(S::sums(acc), width, s + c * width);
  }

  template <DType kType, int Rows>
  static void add_rows(std::int64_t rows, const Tile& tile, const float* w, std::int64_t width,
                       const RowVectors<S>& vectors, float* sums) {
    if constexpr (Rows > 1) {
      if (rows < Rows) return add_rows<kType, Rows - 1>(rows, tile, w, width, vectors, sums);
    }
    for (std::int64_t d = 0; d < Rows * vectors.padded(); d += S::kLanes) S::store(sums + d, S::zero());
    // As many as have room for their weights and values in the registers.
    constexpr int kKeys = Rows == 4 && S::kVectors * S::kRows <= 16 ? 3 : 4;
    std::int64_t c = 0;
    for (; c + kKeys <= tile.keys; c += kKeys) add_keys<kType, Rows, kKeys>(tile, c, w, width, vectors, sums);
    for (; c < tile.keys; ++c) add_keys<kType, Rows, 1>(tile, c, w, width, vectors, sums);
  }

  // Rows are read from begin to end, in the order of memory, and the sums stay in the first-level cache. Going through
  // all keys for two vectors of sums in registers reads memory at half the rate.
  template <DType kType, int Rows, int Keys>
  [[gnu::always_inline]] static void add_keys(const Tile& tile, std::int64_t c, const float* w, std::int64_t width,
                                              const RowVectors<S>& vectors, float* sums) {
    const std::int64_t padded = vectors.padded();
    const std::byte* v[Keys];
    typename S::F weights[Keys][Rows];
#pragma GCC unroll 4
    for (int n = 0; n < Keys; ++n) {
      v[n] = tile.rows->v[c + n];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) weights[n][r] = S::splat(w[(c + n) * width + r]);
    }
    for (int n = 0; n < Keys; ++n) fetch_row(tile.rows->v + c + n, vectors.count * bytes_of(kType));
    const auto step = [&](std::int64_t d, const auto& value) __attribute__((always_inline)) {
      typename S::F values[Keys];
#pragma GCC unroll 4
      for (int n = 0; n < Keys; ++n) values[n] = value(v[n]);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        typename S::F sum = S::load(sums + r * padded + d);
#pragma GCC unroll 4
        for (int n = 0; n < Keys; ++n) sum = S::fma(weights[n][r], values[n], sum);
        S::store(sums + r * padded + d, sum);
      }
    };
    for (std::int64_t d = 0; d < vectors.whole; d += S::kLanes) {
      step(d, [&](const std::byte* row) __attribute__((always_inline)) { return load_as_f32<S>(row, kType, d); });
    }
    if (!vectors.has_tail()) return;
    step(vectors.whole,
         [&](const std::byte* row) __attribute__((always_inline)) { return vectors.template tail<kType>(row); });
  }
};

}  // namespace qkv::kernels::cpu
