// Bytes as a page carries them: gzip, base85, and the hash by which a Content-Security-Policy knows a script.
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

/// Five characters for four bytes, none of which ends a script or a text of JSON; of fewer bytes one more than these.
[[nodiscard]] std::string base85(std::string_view bytes);
/// How long base85() of so many bytes is.
[[nodiscard]] constexpr std::size_t base85_bytes(std::size_t bytes) { return (5 * bytes + 3) / 4; }
/// "sha256-…", without its quotes.
[[nodiscard]] std::string csp_hash(std::string_view text);

}  // namespace qkv::studio
