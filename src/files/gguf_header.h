// What stands before the data of a GGUF file.
#pragma once

#include <optional>

#include "core/block_type.h"
#include "qkv/gguf.h"

namespace qkv::files {

/// A type of GGML. Neither `dtype` nor `block` where qkv has none like it.
struct GgufType {
  std::uint32_t number;
  std::string_view name;
  std::int64_t numbers;  // of a block; 1 of plain numbers
  std::int64_t bytes;    // of a block
  std::optional<DType> dtype = std::nullopt;
  std::optional<core::BlockType> block = std::nullopt;
};
[[nodiscard]] const GgufType* find_gguf_type(std::string_view name) noexcept;
/// Those that Gguf::load() reads: "F32, F16, … or MXFP4".
[[nodiscard]] std::string read_gguf_types();

/// As the format numbers the types of metadata: "u32", "list". The name must be one of them.
[[nodiscard]] std::uint32_t number_of_gguf_value(std::string_view name) noexcept;

struct GgufHeader {
  int version = 0;
  std::vector<GgufEntry> entries;  // by begin
  GgufMetadata metadata;
};

/// Reads and checks all that stands before the data against the number of bytes there. Throws Error as class Gguf
/// says. Memory and time are at most a few times the bytes.
[[nodiscard]] GgufHeader parse_gguf_header(std::span<const std::byte> bytes, const std::string& source);

/// The metadata alone, without what is in its lists, the vocabulary among them: that takes most of the time. Throws
/// likewise.
[[nodiscard]] GgufMetadata parse_gguf_scalars(std::span<const std::byte> bytes, const std::string& source);

}  // namespace qkv::files
