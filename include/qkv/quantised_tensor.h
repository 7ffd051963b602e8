// Weights in blocks of short numbers, as GGUF files have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "qkv/tensor.h"

namespace qkv {

namespace core {
enum class BlockType : std::uint8_t;
}

/// Quantised weights in blocks that share scales, read in place, such as from a mapped file. Each row of the shape
/// [..., K] is a whole number of blocks. Copies share the memory.
class QuantisedTensor {
 public:
  /// No numbers, shape [0].
  QuantisedTensor() = default;
  /// The blocks must not change while `owner` lives, which this keeps. Throws InvalidArgument naming shape if its rows
  /// are not of whole blocks, and blocks if there are more or less of them.
  QuantisedTensor(core::BlockType type, const Shape& shape, std::span<const std::byte> blocks,
                  std::shared_ptr<const void> owner);

  [[nodiscard]] core::BlockType type() const noexcept { return type_; }
  /// As GGML calls it: "Q4_K".
  [[nodiscard]] std::string_view type_name() const noexcept;
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> blocks() const noexcept { return blocks_; }

  /// Rows begin to end - 1 of [N, K], in place. Throws InvalidArgument naming rows if there are not so many.
  [[nodiscard]] QuantisedTensor rows(std::int64_t begin, std::int64_t end) const;
  /// [N, K] with row order[n] in the place of row n. Allocates its blocks. Throws as rows().
  [[nodiscard]] QuantisedTensor in_order(std::span<const std::int64_t> order) const;
  /// The numbers as f32, dense, bit for bit as the reference of GGML computes them. Allocates them at each call.
  [[nodiscard]] Tensor dequantised() const;

 private:
  [[nodiscard]] std::size_t row_bytes() const;
  void require_row(std::int64_t row) const;

  core::BlockType type_{};
  Shape shape_{0};
  std::span<const std::byte> blocks_;
  std::shared_ptr<const void> owner_;
};

}  // namespace qkv
