// Any bytes as a safetensors file: an error, or tensors each of which loads or says why not.
#include "qkv/safetensors.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const qkv::Safetensors file({bytes.begin(), bytes.end()});
    for (const qkv::SafetensorsEntry& entry : file.entries()) {
      try {
        static_cast<void>(file.load(entry.name).to_vector());
      } catch (const qkv::InvalidArgument&) {
        std::abort();
      } catch (const qkv::Error&) {  // NOLINT(bugprone-empty-catch): a type or rank that qkv does not have
      }
    }
  } catch (const qkv::InvalidArgument&) {
    std::abort();                // a malformed file is never the caller's misuse
  } catch (const qkv::Error&) {  // NOLINT(bugprone-empty-catch): malformed
  }
  return 0;
}
