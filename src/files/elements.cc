#include "files/elements.h"

#include <algorithm>
#include <cstring>

namespace qkv::files {
namespace {

void swap_each(std::byte* elements, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(elements + i * size, elements + (i + 1) * size);
}

}  // namespace

std::optional<std::uint64_t> checked_bits(std::span<const std::int64_t> extents, std::uint64_t bits_each) {
  auto bits = static_cast<std::int64_t>(bits_each);
  bool none = false;
  for (const std::int64_t extent : extents) {
    none = none || extent == 0;
    if (__builtin_mul_overflow(bits, std::max<std::int64_t>(extent, 1), &bits)) return std::nullopt;
  }
  return none ? 0 : static_cast<std::uint64_t>(bits);
}

Tensor tensor_from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape, std::endian order) {
  Tensor tensor(dtype, shape);
  if (bytes.empty()) return tensor;
  auto* elements = static_cast<std::byte*>(tensor.data());
  std::memcpy(elements, bytes.data(), bytes.size());
  if (dtype == DType::b8) {
    std::ranges::transform(bytes, elements, [](std::byte value) { return std::byte{value != std::byte{0}}; });
  }
  const std::size_t size = size_of(dtype);
  if (order != std::endian::native && size > 1) swap_each(elements, bytes.size() / size, size);
  return tensor;
}

void append_elements(std::vector<std::byte>& bytes, const TensorView& view) {
  if (view.size() == 0) return;
  if (!view.is_contiguous()) {
    append_elements(bytes, Tensor(view));
    return;
  }
  const std::size_t size = size_of(view.dtype());
  const auto count = static_cast<std::size_t>(view.size());
  const auto* elements = static_cast<const std::byte*>(view.data());
  bytes.insert(bytes.end(), elements, elements + count * size);
  if (std::endian::native != std::endian::little) swap_each(bytes.data() + bytes.size() - count * size, count, size);
}

void append_text(std::vector<std::byte>& bytes, std::string_view text) {
  const auto source = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), source.begin(), source.end());
}

}  // namespace qkv::files
