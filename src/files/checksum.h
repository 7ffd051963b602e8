// A safetensors file that says whether one of its bits has changed.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "qkv/files.h"
#include "qkv/safetensors.h"

namespace qkv::files {

/// encode_safetensors() with the CRC-32 of all bytes of the file in its metadata: "checksum.kind", "crc-32", and
/// "checksum.value", eight hexadecimal digits, which count as zeros in the sum. The two words stand for each other, so
/// that neither can be lost without notice.
[[nodiscard]] std::vector<std::byte> encode_checked_safetensors(std::span<const NamedView> tensors,
                                                                const std::map<std::string, std::string>& metadata);

/// Throws Error naming the source if the file has a checksum that its bytes do not give; reads all of them then. A file
/// without one is taken as it is.
void require_sound(const Safetensors& file);

}  // namespace qkv::files
