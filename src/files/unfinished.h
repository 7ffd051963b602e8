// Names of what is being written, so that a signal leaves none of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace qkv::files::unfinished {

/// The slot that the name of a file or of a folder takes until it is forgotten. There are 64 of them; what finds none,
/// and a name of 4,096 bytes or more, is left if a signal comes.
[[nodiscard]] std::optional<std::size_t> add(const std::string& name) noexcept;
void forget(std::size_t slot) noexcept;
/// Removes all files, then the folders that are empty. For a signal handler: it calls unlink() and rmdir() alone.
void remove_all() noexcept;

}  // namespace qkv::files::unfinished
