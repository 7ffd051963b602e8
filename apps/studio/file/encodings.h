// Bytes as a page carries them: gzip, base64, and the hash by which a Content-Security-Policy knows a script.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;  // zlib's. NOLINT(readability-identifier-naming)

namespace qkv::studio {

[[nodiscard]] std::string gzipped(std::string_view bytes);
/// Throws Error for what is no gzip.
[[nodiscard]] std::string gunzipped(std::string_view bytes);
/// How many bytes gzip makes of what is added, as it comes.
class PackedSize {
 public:
  PackedSize();
  void add(std::string_view bytes);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<z_stream_s, int (*)(z_stream_s*)> stream_;
  std::size_t bytes_ = 0;
};

[[nodiscard]] std::string base64(std::string_view bytes);
/// How long base64() of so many bytes is.
[[nodiscard]] constexpr std::size_t base64_bytes(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
/// "sha256-…", without its quotes.
[[nodiscard]] std::string csp_hash(std::string_view text);

}  // namespace qkv::studio
