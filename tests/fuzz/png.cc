// Any bytes as a PNG file: an error, or a picture that comes back the same from what it is written as.
#include "qkv/png.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::Tensor picture;
  try {
    picture = qkv::decode_png(std::as_bytes(std::span(data, size)));
  } catch (const qkv::InvalidArgument&) {
    std::abort();  // a malformed file is never the caller's misuse
  } catch (const qkv::Error&) {
    return 0;
  }
  const qkv::Tensor again = qkv::decode_png(qkv::encode_png(picture));
  const bool same = again.shape() == picture.shape() &&
                    std::memcmp(again.data(), picture.data(), static_cast<std::size_t>(picture.size())) == 0;
  if (!same) std::abort();
  return 0;
}
