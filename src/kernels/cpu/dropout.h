// Dropout of a tile's weights, four keys of a vector of queries at a time: the same function as qkv::dropout_keeps.
#pragma once

#include <cstdint>

#include "kernels/cpu/forward.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/reach.h"

namespace qkv::kernels::cpu {

struct DropoutRule {
  std::uint32_t seed_low = 0;
  std::uint32_t seed_high = 0;
  std::uint32_t least = 0;  // a word below it drops
  float kept_scale = 1;     // 1 / (1 - p)
};

template <class S>
struct PhiloxWords {
  typename S::U word[4];
};

/// Philox4x32-10 of one counter a lane (Salmon et al. 2011).
template <class S>
[[gnu::always_inline]] inline PhiloxWords<S> philox(PhiloxWords<S> counter, std::uint32_t key0, std::uint32_t key1) {
  const typename S::U multiplier0 = S::splat_u32(0xD2511F53U);
  const typename S::U multiplier1 = S::splat_u32(0xCD9E8D57U);
  for (int round = 0; round < 10; ++round) {
    const typename S::U c0 = counter.word[0];
    const typename S::U c2 = counter.word[2];
    counter.word[0] =
        S::exclusive_or(S::exclusive_or(S::multiply_high(c2, multiplier1), counter.word[1]), S::splat_u32(key0));
    counter.word[1] = S::multiply_low(c2, multiplier1);
    counter.word[2] =
        S::exclusive_or(S::exclusive_or(S::multiply_high(c0, multiplier0), counter.word[3]), S::splat_u32(key1));
    counter.word[3] = S::multiply_low(c0, multiplier0);
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// Weights of the keys in reach from key `j` on become 0 or weight / (1 - p). `j` is a multiple of 4.
template <class S, std::int64_t kWidth>
void drop(const DropoutRule& rule, const Segment& segment, const Lanes& lanes, std::int64_t j,
          const Reach<S, kWidth>& reach, float* s) {
  const MatrixWindow& window = segment.window;
  alignas(64) std::uint32_t queries[kTile] = {};
  alignas(64) std::uint32_t heads[kTile] = {};
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    queries[lane] = static_cast<std::uint32_t>(window.query(lanes.query_of(lane)));
    heads[lane] = static_cast<std::uint32_t>(lanes.head_of(lane));
  }
  const auto words_of = [&](std::int64_t group, std::int64_t lane) {
    return philox<S>({{S::splat_u32(static_cast<std::uint32_t>(group)), S::load_u32(queries + lane),
                       S::load_u32(heads + lane), S::splat_u32(static_cast<std::uint32_t>(segment.b))}},
                     rule.seed_low, rule.seed_high);
  };
  const typename S::F kept_scale = S::splat(rule.kept_scale);
  const auto drop_key = [&](const typename S::U& word, float* weights) {
    const auto kept = S::at_least(word, S::splat_u32(rule.least));
    S::store(weights, S::select(kept, S::mul(S::load(weights), kept_scale), S::zero()));
  };
  const bool in_fours = window.step_j == 1 && window.first_j % 4 == 0;
  for (std::int64_t lane = 0; lane < lanes.count(); lane += S::kLanes) {
    float* first = s + lane / kWidth * kWidth * kTile + lane % kWidth;
    if (in_fours) {
      for (std::int64_t c = reach[lane].begin / 4 * 4; c < reach[lane].end; c += 4) {
        const PhiloxWords<S> words = words_of((window.first_j + j + c) / 4, lane);
        for (std::int64_t n = 0; n < 4 && c + n < reach[lane].end; ++n) {
          drop_key(words.word[n], first + (c + n) * kWidth);
        }
      }
      continue;
    }
    for (std::int64_t c = reach[lane].begin; c < reach[lane].end;) {
      const std::int64_t group = window.key(j + c) / 4;
      const PhiloxWords<S> words = words_of(group, lane);
      for (; c < reach[lane].end && window.key(j + c) / 4 == group; ++c) {
        drop_key(words.word[window.key(j + c) % 4], first + c * kWidth);
      }
    }
  }
}

}  // namespace qkv::kernels::cpu
