// Pieces as a tree of bytes, in a double array (Aoe 1989): the child of a node lies at its base, exclusive-or the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace qkv::text {

/// Immutable.
class PieceTree {
 public:
  struct Entry {
    std::string_view piece;  // not empty
    std::int32_t id = 0;     // 0 or more
  };
  struct Match {
    std::size_t end = 0;
    std::int32_t id = 0;
  };

  PieceTree() = default;
  /// Each text is there once. The texts are not kept.
  explicit PieceTree(std::vector<Entry> entries);

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  /// Whether a piece begins with this byte.
  [[nodiscard]] bool begins(char byte) const noexcept { return child_of(0, byte) != kNone; }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept;
  /// The longest piece that lies at `begin`.
  [[nodiscard]] std::optional<Match> longest_at(std::string_view text, std::size_t begin) const noexcept {
    std::optional<Match> longest;
    for_each_at(text, begin, [&](std::size_t end, std::int32_t id) { longest = {.end = end, .id = id}; });
    return longest;
  }
  /// Calls `visit(end, id)` for each piece that lies at `begin`, the shortest first.
  template <class Visit>
  void for_each_at(std::string_view text, std::size_t begin, const Visit& visit) const {
    std::uint32_t node = 0;
    for (std::size_t at = begin; at < text.size(); ++at) {
      node = child_of(node, text[at]);
      if (node == kNone) return;
      if (nodes_[node].id != kNoPiece) visit(at + 1, nodes_[node].id);
    }
  }

 private:
  friend class PieceTreeBuilder;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::int32_t kNoPiece = -1;
  struct Node {
    std::uint32_t base = 0;  // of a leaf, any
    std::uint32_t parent = kNone;
    std::int32_t id = kNoPiece;
  };
  // Bases lie in blocks of 256 nodes, so a child does, too.
  [[nodiscard]] std::uint32_t child_of(std::uint32_t node, char byte) const noexcept {
    if (nodes_.empty()) return kNone;
    const std::uint32_t child = nodes_[node].base ^ static_cast<unsigned char>(byte);
    return nodes_[child].parent == node ? child : kNone;
  }

  std::vector<Node> nodes_;
};

}  // namespace qkv::text
