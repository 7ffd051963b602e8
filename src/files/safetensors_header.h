// The JSON header of a safetensors file.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// How a file of tensors is laid out: larger elements first, then by name, one after the other.
struct SafetensorsLayout {
  std::vector<std::size_t> order;  // of the tensors, by their places in what was given
  std::vector<std::byte> begin;    // what stands before the data: the header and its length
};
/// Of tensors of types of the format, without begin and end.
[[nodiscard]] SafetensorsLayout safetensors_layout(std::vector<SafetensorsEntry> tensors,
                                                   const std::map<std::string, std::string>& metadata);
/// As the format names it.
[[nodiscard]] std::string_view safetensors_type(DType dtype) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace qkv::files
