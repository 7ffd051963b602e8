// Any bytes as a .npy file: an error, or a tensor that comes back the same from what it is written as.
#include "qkv/npy.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::Tensor tensor;
  try {
    tensor = qkv::decode_npy(std::as_bytes(std::span(data, size)));
  } catch (const qkv::InvalidArgument&) {
    std::abort();  // a malformed file is never the caller's misuse
  } catch (const qkv::Error&) {
    return 0;
  }
  const qkv::Tensor again = qkv::decode_npy(qkv::encode_npy(tensor));
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype());
  const bool same = again.dtype() == tensor.dtype() && again.shape() == tensor.shape() &&
                    std::memcmp(again.data(), tensor.data(), bytes) == 0;
  if (!same) std::abort();
  return 0;
}
