// What a request prints without what differs each time that it is asked.
#pragma once

#include <string>
#include <string_view>

namespace qkv::tests {

/// Times, rates and bytes in words ("12.5 ms", "3 GB/s", "2.1e+06 tokens/s") are " #", and members of JSON that hold
/// them
/// ("seconds": 0.5) have "#" as their value: so is what a run of the allocator gives back.
[[nodiscard]] std::string without_times(std::string_view text);

}  // namespace qkv::tests
