// The rooms of the house, what each may use, and what breaks their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "house/source_tree.h"

namespace qkv::house {

struct Room {
  std::string_view name;
  std::vector<std::string_view> may_use;  // rooms
  std::vector<std::string_view> brings;   // how the includes of its outside libraries begin
};

/// From the ground up: a room uses rooms before it only.
[[nodiscard]] const std::vector<Room>& rooms();

/// The room of a public header: "qkv/nn/norm.h" is of nn, "qkv/tensor.h" of core. Empty if the table has no such
/// header.
[[nodiscard]] std::string_view room_of_public(std::string_view header);

/// One line for each include of `file` that the order of the rooms forbids.
[[nodiscard]] std::vector<std::string> violations(const SourceFile& file);

}  // namespace qkv::house
