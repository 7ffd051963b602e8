// What every bias is made of.
#pragma once

#include <span>
#include <string>

#include "qkv/bias.h"

namespace qkv::bias_detail {

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  [[nodiscard]] virtual double at(const Place& place, const MaskShape& shape) const = 0;
  /// Bias::add_row. The default asks at() for each key.
  virtual void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const;
  virtual void validate(const MaskShape& shape) const;
  [[nodiscard]] virtual std::string to_string() const = 0;
};

}  // namespace qkv::bias_detail
