// Bytes as a page carries them: gzip, base64, and the hash by which a Content-Security-Policy knows a script.
#pragma once

#include <string>
#include <string_view>

namespace qkv::studio {

[[nodiscard]] std::string gzipped(std::string_view bytes);
/// Throws Error for what is no gzip.
[[nodiscard]] std::string gunzipped(std::string_view bytes);
[[nodiscard]] std::string base64(std::string_view bytes);
/// "sha256-…", without its quotes.
[[nodiscard]] std::string csp_hash(std::string_view text);

}  // namespace qkv::studio
