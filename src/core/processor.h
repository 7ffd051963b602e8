// Whose processor it is, where that decides what is fast.
#pragma once

namespace qkv::core {

/// True on AMD's processors. Found once.
[[nodiscard]] bool is_amd();

}  // namespace qkv::core
