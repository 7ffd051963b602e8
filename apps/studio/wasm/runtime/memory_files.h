// The files that the page hands in: all that an engine without a file system can read.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace qkv::wasm {

/// By path. The bytes stay for good.
[[nodiscard]] std::map<std::string, std::span<const std::byte>>& memory_files();

}  // namespace qkv::wasm
