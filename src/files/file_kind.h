// What a file is by its first bytes, for messages about a file of another kind than is read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace qkv::files {

inline constexpr std::size_t kBeginning = 1024;  // bytes: the first element of XML stands behind a prologue

/// The first bytes of a file, as many as kinds need; none of one that cannot be read.
[[nodiscard]] std::string beginning_of(const std::string& path);
/// The same of bytes that are here.
[[nodiscard]] std::string_view beginning_of(std::span<const std::byte> bytes) noexcept;

/// "a PNG picture", "a GGUF file"; empty for bytes of an unknown kind.
[[nodiscard]] std::string_view kind_of(std::string_view bytes);

/// "the byte 0xE9 at byte 3 (counted from 0)": the first that is no UTF-8; empty for a text of it.
[[nodiscard]] std::string other_than_utf8(std::string_view bytes);

/// For a reader whose format begins in another way. Throws Error "<source>: expected <wanted>, got <kind>" if the kind
/// of the bytes is known, and as require_fetched().
void refuse_other_kind(std::string_view bytes, const std::string& source, std::string_view wanted);

}  // namespace qkv::files
