// Numbers of bytes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qkv::api_detail {

/// "512MiB", "4 GB", "4096": a unit counts in steps of 1024, whatever it is called. nullopt for another text, and for
/// what 64 bits do not hold.
[[nodiscard]] std::optional<std::uint64_t> size_from(std::string_view text);

/// In the largest unit that gives a whole number.
[[nodiscard]] std::string size_as_written(std::uint64_t bytes);

}  // namespace qkv::api_detail
