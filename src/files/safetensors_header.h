// The JSON header of a safetensors file.
#pragma once

#include <optional>

#include "qkv/safetensors.h"

namespace qkv::files {

inline constexpr std::string_view kMetadataKey = "__metadata__";

/// An element type of the format; `dtype` is empty where qkv has none like it.
struct SafetensorsType {
  std::string_view name;
  std::uint64_t bits;
  std::optional<DType> dtype;
};
[[nodiscard]] const SafetensorsType* find_safetensors_type(std::string_view name) noexcept;

struct SafetensorsHeader {
  std::size_t data_begin = 0;
  std::vector<SafetensorsEntry> entries;  // by offset
  std::map<std::string, std::string> metadata;
};

/// Reads and checks the header against the number of bytes there. Throws Error as class Safetensors says.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, const std::string& source);

/// The header's text for tensors that lie one after the other.
[[nodiscard]] std::string safetensors_header(std::span<const NamedView* const> ordered,
                                             const std::map<std::string, std::string>& metadata);
/// The same of tensors that are yet to be made.
[[nodiscard]] std::string safetensors_header(std::span<const SafetensorsEntry> ordered,
                                             const std::map<std::string, std::string>& metadata);

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace qkv::files
