// Bytes as characters (GPT-2): each byte of UTF-8 stands as a character that can be seen, so that a vocabulary of
// characters covers every text. https://github.com/openai/gpt-2/blob/master/src/encoder.py
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/aligned_text.h"

namespace qkv::text {

/// The pattern by which GPT-2 cuts texts.
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// The character of a byte, as UTF-8.
[[nodiscard]] std::string_view byte_character(unsigned char byte) noexcept;
/// Appends the bytes [begin, end) of a text as characters, each with the origin of its byte.
void append_byte_level(AlignedText& changed, const AlignedText& text, std::size_t begin, std::size_t end);
/// The byte of a character; nullopt where it stands for none.
[[nodiscard]] std::optional<unsigned char> byte_of(char32_t character) noexcept;

}  // namespace qkv::text
