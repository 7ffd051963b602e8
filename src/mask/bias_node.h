// What every bias is made of.
#pragma once

#include <span>
#include <string>

#include "qkv/bias.h"

namespace qkv::bias_detail {

/// Nodes get tiles of at most kBlock queries and keys, none of them empty.
inline constexpr std::int64_t kBlock = 64;

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  [[nodiscard]] virtual double at(const Place& place, const MaskShape& shape) const = 0;
  /// Bias::add_row. The default asks at() for each key.
  virtual void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const;
  /// Adds the biases of a tile to rows that lie row_stride apart. The default asks add_row() for each row.
  virtual void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const;
  /// Bias::write_tile. The default rounds what add_tile() adds to zeros.
  virtual void write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const;
  virtual void validate(const MaskShape& shape) const;
  [[nodiscard]] virtual std::string to_string() const = 0;
};

}  // namespace qkv::bias_detail
