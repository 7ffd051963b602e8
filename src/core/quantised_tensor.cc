#include "qkv/quantised_tensor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/block_type.h"
#include "core/parallel.h"
#include "qkv/error.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

constexpr const char* kQuantised = "QuantisedTensor";

std::size_t bytes_of_blocks(core::BlockType type, const Shape& shape) {
  const core::BlockLayout& layout = core::layout_of(type);
  const std::int64_t K = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (shape.rank() == 0 || K % layout.numbers != 0) {
    throw InvalidArgument(
        kQuantised, "shape",
        "rows of whole blocks of " + std::to_string(layout.numbers) + ", as " + std::string(layout.name) + " has",
        shape.to_string());
  }
  return static_cast<std::size_t>(shape.product() / layout.numbers * layout.bytes);
}

}  // namespace

QuantisedTensor::QuantisedTensor(core::BlockType type, const Shape& shape, std::span<const std::byte> blocks,
                                 std::shared_ptr<const void> owner)
    : type_(type), shape_(shape), blocks_(blocks), owner_(std::move(owner)) {
  if (const std::size_t bytes = bytes_of_blocks(type, shape); bytes != blocks.size()) {
    throw InvalidArgument(kQuantised, "blocks", std::to_string(bytes) + " bytes", std::to_string(blocks.size()));
  }
}

std::string_view QuantisedTensor::type_name() const noexcept { return core::layout_of(type_).name; }

std::size_t QuantisedTensor::row_bytes() const {
  if (shape_.rank() != 2) throw InvalidArgument(kQuantised, "rows", "those of [N, K]", shape_.to_string());
  return shape_[0] == 0 ? 0 : blocks_.size() / static_cast<std::size_t>(shape_[0]);
}

void QuantisedTensor::require_row(std::int64_t row) const {
  if (row >= 0 && row < shape_[0]) return;
  throw InvalidArgument(kQuantised, "rows", "0 to " + std::to_string(shape_[0] - 1), std::to_string(row));
}

QuantisedTensor QuantisedTensor::rows(std::int64_t begin, std::int64_t end) const {
  const std::size_t bytes = row_bytes();
  const std::int64_t count = std::max<std::int64_t>(end - begin, 0);
  if (count > 0) {
    require_row(begin);
    require_row(end - 1);
  }
  const std::size_t first = count == 0 ? 0 : static_cast<std::size_t>(begin) * bytes;
  return {type_, {count, shape_[1]}, blocks_.subspan(first, static_cast<std::size_t>(count) * bytes), owner_};
}

QuantisedTensor QuantisedTensor::in_order(std::span<const std::int64_t> order) const {
  const std::size_t bytes = row_bytes();
  const auto own = std::make_shared<std::vector<std::byte>>(order.size() * bytes);
  for (std::size_t n = 0; n < order.size(); ++n) {
    require_row(order[n]);
    std::ranges::copy(blocks_.subspan(static_cast<std::size_t>(order[n]) * bytes, bytes),
                      own->begin() + static_cast<std::ptrdiff_t>(n * bytes));
  }
  return {type_, {std::ssize(order), shape_[1]}, *own, own};
}

Tensor QuantisedTensor::dequantised() const {
  constexpr std::int64_t kBlocksOfTask = 4096;
  const core::BlockLayout& layout = core::layout_of(type_);
  Tensor tensor(DType::f32, shape_);
  const std::span<float> numbers = tensor.values<float>();
  const std::int64_t count = static_cast<std::int64_t>(blocks_.size()) / layout.bytes;
  core::parallel_for(threads(), (count + kBlocksOfTask - 1) / kBlocksOfTask, [&](int /*worker*/, std::int64_t task) {
    const std::int64_t first = task * kBlocksOfTask;
    const std::int64_t some = std::min(kBlocksOfTask, count - first);
    const auto part = [first, some](std::int64_t each) {
      return std::pair(static_cast<std::size_t>(first * each), static_cast<std::size_t>(some * each));
    };
    const auto [byte, bytes] = part(layout.bytes);
    const auto [number, size] = part(layout.numbers);
    core::dequantise(type_, blocks_.subspan(byte, bytes), numbers.subspan(number, size));
  });
  return tensor;
}

}  // namespace qkv
