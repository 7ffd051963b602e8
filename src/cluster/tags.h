// The tags of messages, so that no two kinds are taken for each other.
#pragma once

namespace qkv::cluster {

inline constexpr int kScatterTag = 1;
inline constexpr int kGatherTag = 2;
inline constexpr int kDecodeTag = 3;
inline constexpr int kSumTag = 4;
inline constexpr int kBlockTag = 1 << 14;     // + the rank whose keys they are
inline constexpr int kGradientTag = 2 << 14;  // likewise

}  // namespace qkv::cluster
