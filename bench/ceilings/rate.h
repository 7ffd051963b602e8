// How much work a second some threads get done together.
#pragma once

#include <cstdint>
#include <functional>

namespace qkv::bench {

/// Processors that this process may use, in order.
[[nodiscard]] int usable_processors();

/// The median over 9 samples of work a second: in each, every one of `threads` threads (each pinned to a processor of
/// its own) calls once(thread) as often as fills 20 ms, and the sample ends with the last of them. `work` is what one
/// call does, in any unit. One sample more comes first and is not counted.
[[nodiscard]] double median_rate(int threads, std::int64_t work, const std::function<void(int thread)>& once);

}  // namespace qkv::bench
