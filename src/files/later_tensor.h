// Files of tensors that are made one after the other, as their turn to be written comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "files/staged_file.h"
#include "qkv/gguf.h"
#include "qkv/tensor.h"

namespace qkv::files {

struct LaterTensor {
  std::string name;
  std::string type;                 // as the file says it: "F32", "BF16", "Q4_0"
  std::vector<std::int64_t> shape;  // the outermost axis first
  std::function<Tensor()> values;   // floating, of this shape
};

/// Told after each tensor how many bytes of all are written.
using WriteProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// A GGUF file of version 3, its data aligned to 32 bytes, in the order of the tensors. Keeps one tensor at a time.
/// Throws Error naming the tensor for numbers that its type cannot hold: beyond the largest of F16, or not finite in
/// blocks; InvalidArgument for a type that is not written, rows that are no whole blocks, and a value that is not of
/// its type. Throws as StagedFile::write().
void write_gguf(StagedFile& file, const GgufMetadata& metadata, std::span<const LaterTensor> tensors,
                const WriteProgress& progress);

/// A safetensors file of F32, F16, BF16 and F64, larger elements first, then by name. Throws likewise.
void write_safetensors(StagedFile& file, const std::map<std::string, std::string>& metadata,
                       std::span<const LaterTensor> tensors, const WriteProgress& progress);

/// Bytes of a tensor in its file. Throws InvalidArgument as write_gguf().
[[nodiscard]] std::int64_t bytes_of(const LaterTensor& tensor);

/// The elements of a tensor of this type, little-endian. Throws as write_gguf().
[[nodiscard]] std::vector<std::byte> elements_as(const LaterTensor& tensor, const Tensor& values);

/// The largest error that a number of each block of 32 may have, in this type: 0 where it is kept as it is. `values` is
/// f32, `row` one of its rows, or a part of it.
[[nodiscard]] double rounding_bound(std::string_view type, std::span<const float> values);

}  // namespace qkv::files
