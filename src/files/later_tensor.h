// Files of tensors that are made one after the other, as their turn to be written comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "files/quantise.h"
#include "files/staged_file.h"
#include "qkv/gguf.h"
#include "qkv/tensor.h"

namespace qkv::files {

struct LaterTensor {
  std::string name;
  std::string type;                 // as the file says it: "F32", "BF16", "BOOL", "Q4_0"
  std::vector<std::int64_t> shape;  // the outermost axis first
  std::function<Tensor()> values;   // of this shape
};

/// Told after each tensor how many bytes of all are written.
using WriteProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// A GGUF file of version 3, its data aligned to 32 bytes, in the order of the tensors. Keeps one tensor at a time.
/// Throws Error naming the tensor for numbers that its type cannot hold: beyond the largest of F16, or not finite in
/// blocks; InvalidArgument for a type that is not written and rows that are no whole blocks. Throws as
/// StagedFile::write().
void write_gguf(StagedFile& file, const GgufMetadata& metadata, std::span<const LaterTensor> tensors,
                const WriteProgress& progress);

/// A safetensors file of plain numbers, larger elements first, then by name. Throws likewise.
void write_safetensors(StagedFile& file, const std::map<std::string, std::string>& metadata,
                       std::span<const LaterTensor> tensors, const WriteProgress& progress);

/// Bytes of a tensor in its file. Throws InvalidArgument as write_gguf().
[[nodiscard]] std::int64_t bytes_of(const LaterTensor& tensor);

/// How far a number in this type may be from what it was; 0 where it is kept as it is. Of numbers in blocks "most" is
/// that of a block of 32, of others the number itself.
[[nodiscard]] RoundingBound rounding_bound(std::string_view type) noexcept;

}  // namespace qkv::files
