// Bounds of the numbers that several requests have in common.
#pragma once

#include <cstdint>

namespace qkv::api_detail {

inline constexpr std::int64_t kMostHeads = 4096;
inline constexpr std::int64_t kWidest = 4096;  // of a vector of a drawn model
inline constexpr std::int64_t kMostLayers = 65'536;
inline constexpr std::int64_t kMostExamples = std::int64_t{1} << 40;  // of a task, which makes each when it is asked
inline constexpr std::int64_t kMostPlaces = std::int64_t{1} << 20;    // of a text
inline constexpr std::int64_t kMostAnswer = 4096;                     // tokens that a model writes
inline constexpr std::int64_t kMostFactor = 1'000'000;                // of scores, and their softcap

}  // namespace qkv::api_detail
