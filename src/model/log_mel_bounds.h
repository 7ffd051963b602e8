// Bounds of a spectrogram's options: without them one word in a file could fill the memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "qkv/model/log_mel.h"

namespace qkv {

/// An option, and what preprocessor_config.json calls it.
struct LogMelBound {
  std::string_view name;
  std::string_view word;
  std::int64_t LogMelOptions::* value;
  std::int64_t least;
  std::int64_t most;
};
inline constexpr LogMelBound kLogMelBounds[] = {
    {"rate", "sampling_rate", &LogMelOptions::rate, 1, std::int64_t{1} << 20},
    {"bins", "feature_size", &LogMelOptions::bins, 1, std::int64_t{1} << 12},
    {"window", "n_fft", &LogMelOptions::window, 2, std::int64_t{1} << 12},
    {"hop", "hop_length", &LogMelOptions::hop, 1, std::int64_t{1} << 16},
    {"seconds", "chunk_length", &LogMelOptions::seconds, 1, std::int64_t{1} << 12},
};

/// Throws for the option that is out of bounds.
using RefuseLogMel = std::function<void(const LogMelBound& bound, const std::string& expected)>;

/// Calls `refuse` for the first option that is out of bounds, if there is one.
void require_log_mel_bounds(const LogMelOptions& options, const RefuseLogMel& refuse);

}  // namespace qkv
