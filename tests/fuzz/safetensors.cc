// Any bytes as a safetensors file: an error, or tensors each of which loads or says why not.
#include "qkv/safetensors.h"

#include <cstdint>

#include "attempt.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  qkv::fuzz::attempt([&] {
    const qkv::Safetensors file({bytes.begin(), bytes.end()});
    for (const qkv::SafetensorsEntry& entry : file.entries()) {
      qkv::fuzz::attempt([&] { static_cast<void>(file.load(entry.name).to_vector()); });
    }
  });
  return 0;
}
