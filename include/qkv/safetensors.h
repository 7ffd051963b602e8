// safetensors: named tensors behind a JSON header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/files.h"

namespace qkv {

namespace files {
struct SharedBytes;
}

/// A tensor as listed in the header.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;                // as in the file: "F32", "I8", …
  std::vector<std::int64_t> shape;  // any rank
  std::uint64_t begin = 0;          // of the data section
  std::uint64_t end = 0;
};

/// A file. The constructor checks its header; data is read when it is used: a file of 10 GB opens in milliseconds, and
/// its tensors take no memory of the process. Copies share the bytes. Tensors of types or ranks that qkv does not have
/// (U16, F8_E4M3, rank 9, …) are listed, but cannot be loaded.
///
/// Throws Error "<source>: <name>: <what>", with the name that the format's reference implementation gives the fault:
/// HeaderTooSmall, HeaderTooLarge, InvalidHeaderLength, InvalidHeader, InvalidHeaderDeserialization, InvalidOffset,
/// ValidationOverflow, MisalignedSlice, TensorInvalidInfo, MetadataIncompleteBuffer, TensorNotFound. Beyond it, the
/// same key twice is an InvalidHeaderDeserialization, as the format's description demands. Format:
/// https://github.com/huggingface/safetensors#format
class Safetensors {
 public:
  explicit Safetensors(std::vector<std::byte> bytes, std::string source = "safetensors");
  /// Maps the file, read only. It must not be cut short or written in place while this or one of its tensors lives (a
  /// cut file ends the program with SIGBUS); replacing it by another, as write_file() does, is safe. A pipe is read.
  [[nodiscard]] static Safetensors read(const std::string& path);
  /// The bytes of a file that is mapped already; `source` stands in messages.
  Safetensors(files::SharedBytes bytes, std::string source);

  /// The whole file, header and data.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// In the order of their data.
  [[nodiscard]] const std::vector<SafetensorsEntry>& entries() const noexcept { return entries_; }
  /// `__metadata__`; empty where there is none.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  [[nodiscard]] bool contains(std::string_view name) const noexcept;

  /// One tensor, dense: it reads the file's bytes in place and keeps them alive, also when this object is gone. Writing
  /// to it copies them first, and never reaches the file. Booleans are copied at once, as any byte but 0 means true,
  /// and so is a tensor that does not lie aligned for its type: a file by encode_safetensors() has none. Throws Error
  /// for a name that is not there (listing those that are) or a type or rank that qkv does not have (naming it).
  [[nodiscard]] Tensor load(std::string_view name) const;

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  std::string source_;
  std::size_t data_begin_ = 0;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

/// A file's bytes: larger element types first, then by name, the header padded so that the data is aligned to 8 bytes.
/// Throws InvalidArgument for a name that is empty, not UTF-8, "__metadata__" or there twice.
[[nodiscard]] std::vector<std::byte> encode_safetensors(std::span<const NamedView> tensors,
                                                        const std::map<std::string, std::string>& metadata = {});

}  // namespace qkv
