// What a path leads to, and texts of files, with errors that name the path.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "qkv/safetensors.h"

namespace qkv::files {

/// Whether anything is at a path, after following links. Throws Error naming the path and the system's reason where
/// that cannot be known: a loop of links, a name that is too long, a directory that may not be searched.
[[nodiscard]] bool is_there(const std::string& path);
/// Whether it is a directory. Throws as is_there().
[[nodiscard]] bool is_folder(const std::string& path);

/// Throws Error naming the path if these are the bytes of a Git LFS pointer, which stands for a file that was not
/// fetched.
void require_fetched(std::string_view bytes, const std::string& path);

inline constexpr std::string_view kAnotherFile = "another file";
/// What a file of these bytes is, if its first ones cannot be the length of a header and its brace; empty for one that
/// may be of safetensors. Throws as require_fetched().
[[nodiscard]] std::string_view other_than_safetensors(std::span<const std::byte> bytes, const std::string& path);

/// "expected …, got " of a file that holds no model's weights.
[[nodiscard]] std::string expected_weights();

/// The safetensors file at a path, opened once. Throws Error for a file of another kind, as above.
[[nodiscard]] Safetensors read_safetensors(const std::string& path);

/// The bytes of a file. Throws Error as read_file() and require_fetched().
[[nodiscard]] std::string read_bytes(const std::string& path);
/// The text of a file. Throws as read_bytes() and require_utf8().
[[nodiscard]] std::string read_text(const std::string& path);

}  // namespace qkv::files
