// Bytes in base64 (RFC 4648), as tokenizer.json holds tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qkv::text {

[[nodiscard]] std::string to_base64(std::string_view bytes);
/// nullopt for a text that is no base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace qkv::text
