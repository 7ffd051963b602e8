#include "cluster/rows.h"

#include <algorithm>
#include <cstring>

namespace qkv::cluster {
namespace {

constexpr std::int64_t kAligned = 64;

std::int64_t boundary(std::int64_t T, std::int64_t count, std::int64_t n) {
  const std::int64_t tiles = T / kAligned;
  // Where stretches are short, a tile more or less is work that others do not have.
  const bool in_tiles = tiles >= 16 * count || T % (kAligned * count) == 0;
  return n == count ? T : in_tiles ? tiles * n / count * kAligned : T * n / count;
}

// Calls body(offset in bytes, bytes) for each run of elements that lie side by side, in row-major order.
template <class Body>
void for_each_run(const TensorView& x, int axis, std::int64_t offset, const Body& body) {
  const auto size = static_cast<std::int64_t>(size_of(x.dtype()));
  if (axis == x.rank()) return body(offset * size, size);
  const bool is_run = axis + 1 == x.rank() && x.strides()[axis] == 1;
  if (is_run) return body(offset * size, x.shape()[axis] * size);
  for (std::int64_t n = 0; n < x.shape()[axis]; ++n) for_each_run(x, axis + 1, offset + n * x.strides()[axis], body);
}

}  // namespace

SharePiece stretch(std::int64_t T, std::int64_t count, std::int64_t n) {
  const std::int64_t first = boundary(T, count, n);
  return {.first = first, .count = boundary(T, count, n + 1) - first};
}

std::vector<SharePiece> joined(std::vector<SharePiece> pieces) {
  std::erase_if(pieces, [](const SharePiece& piece) { return piece.count == 0; });
  std::vector<SharePiece> all;
  for (const SharePiece& piece : pieces) {
    const bool follows =
        !all.empty() && all.back().step == piece.step && all.back().position(all.back().count) == piece.first;
    if (follows) {
      all.back().count += piece.count;
    } else {
      all.push_back(piece);
    }
  }
  return all;
}

TensorView piece_of(const TensorView& x, int axis, const SharePiece& piece) {
  if (piece.count == 0) return x.slice(axis, 0, 0);
  const TensorView span = x.slice(axis, piece.first, piece.position(piece.count - 1) + 1);
  const int place = axis < 0 ? axis + x.rank() : axis;
  Shape shape = span.shape();
  Strides strides = span.strides();
  shape[place] = piece.count;
  strides[place] *= piece.step;
  return {span.data(), span.dtype(), shape, strides};
}

MutableTensorView piece_of(const MutableTensorView& x, int axis, const SharePiece& piece) {
  const TensorView view = piece_of(x.view(), axis, piece);
  return {const_cast<void*>(view.data()), view.dtype(), view.shape(), view.strides()};
}

std::byte* pack(const TensorView& from, std::byte* to) {
  if (from.size() == 0) return to;
  const auto* first = static_cast<const std::byte*>(from.data());
  for_each_run(from, 0, 0, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(to, first + offset, static_cast<std::size_t>(bytes));
    to += bytes;
  });
  return to;
}

const std::byte* unpack(const std::byte* from, const MutableTensorView& to) {
  if (to.size() == 0) return from;
  auto* first = static_cast<std::byte*>(to.data());
  for_each_run(to.view(), 0, 0, [&](std::int64_t offset, std::int64_t bytes) {
    std::memcpy(first + offset, from, static_cast<std::size_t>(bytes));
    from += bytes;
  });
  return from;
}

void copy(const TensorView& from, const MutableTensorView& to) {
  if (from.size() == 0) return;
  std::vector<std::byte> bytes(static_cast<std::size_t>(from.size()) * size_of(from.dtype()));
  pack(from, bytes.data());
  unpack(bytes.data(), to);
}

}  // namespace qkv::cluster
