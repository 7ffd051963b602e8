#include "text/piece_tree.h"

#include <algorithm>
#include <array>
#include <deque>

namespace qkv::text {
namespace {

constexpr std::uint32_t kBlock = 256;

}  // namespace

class PieceTreeBuilder {
 public:
  PieceTreeBuilder(std::vector<PieceTree::Entry> entries, std::vector<PieceTree::Node>& nodes)
      : entries_(std::move(entries)), nodes_(nodes) {
    std::ranges::sort(entries_, {}, &PieceTree::Entry::piece);
  }

  void build() {
    add_block();
    take(0, PieceTree::kNone);
    open_ = {{.begin = {entries_.begin()}, .end = {entries_.end()}, .depth = 0, .node = 0}};
    while (!open_.empty()) {
      const Range range = open_.back();
      open_.pop_back();
      place_children(range);
    }
  }

 private:
  using Iterator = std::vector<PieceTree::Entry>::const_iterator;
  // Entries whose first `depth` bytes lead to a node.
  struct Range {
    Iterator begin;
    Iterator end;
    std::size_t depth = 0;
    std::uint32_t node = 0;
  };
  struct Block {
    std::uint32_t begin = 0;
    std::uint32_t free = kBlock;
  };

  void place_children(Range range) {
    for (; range.begin != range.end && range.begin->piece.size() == range.depth; ++range.begin) {
      nodes_[range.node].id = range.begin->id;
    }
    if (range.begin == range.end) return;
    labels_.clear();
    std::vector<Range> children;
    for (Iterator first = range.begin; first != range.end;) {
      const char byte = first->piece[range.depth];
      const Iterator last =
          std::find_if(first, range.end, [&](const PieceTree::Entry& e) { return e.piece[range.depth] != byte; });
      labels_.push_back(static_cast<unsigned char>(byte));
      children.push_back({.begin = first, .end = last, .depth = range.depth + 1});
      first = last;
    }
    const std::uint32_t base = find_base();
    nodes_[range.node].base = base;
    for (std::size_t n = 0; n < children.size(); ++n) {
      children[n].node = base ^ labels_[n];
      take(children[n].node, range.node);
    }
    open_.insert(open_.end(), children.begin(), children.end());
  }

  // A base whose children are all free, in one of the last blocks: those before them are full but for a few nodes.
  std::uint32_t find_base() {
    constexpr std::size_t kBlocks = 16;
    for (const Block& block : blocks_) {
      if (block.free < labels_.size()) continue;
      for (std::uint32_t n = 0; n < kBlock; ++n) {
        const std::uint32_t base = block.begin + n;
        if (std::ranges::all_of(labels_, [&](unsigned char label) { return is_free(base ^ label); })) return base;
      }
    }
    if (blocks_.size() == kBlocks) blocks_.pop_front();
    add_block();
    return blocks_.back().begin;
  }

  [[nodiscard]] bool is_free(std::uint32_t node) const noexcept {
    return nodes_[node].parent == PieceTree::kNone && node != 0;
  }
  void take(std::uint32_t node, std::uint32_t parent) {
    nodes_[node].parent = parent;
    for (Block& block : blocks_) {
      if (block.begin == node / kBlock * kBlock) --block.free;
    }
  }
  void add_block() {
    blocks_.push_back({.begin = static_cast<std::uint32_t>(nodes_.size())});
    nodes_.resize(nodes_.size() + kBlock);
  }

  std::vector<PieceTree::Entry> entries_;
  std::vector<PieceTree::Node>& nodes_;
  std::vector<Range> open_;
  std::deque<Block> blocks_;
  std::vector<unsigned char> labels_;
};

PieceTree::PieceTree(std::vector<Entry> entries) {
  if (!entries.empty()) PieceTreeBuilder(std::move(entries), nodes_).build();
}

std::optional<std::int32_t> PieceTree::find(std::string_view piece) const noexcept {
  std::uint32_t node = 0;
  for (const char byte : piece) {
    node = child_of(node, byte);
    if (node == kNone) return std::nullopt;
  }
  if (nodes_.empty() || nodes_[node].id == kNoPiece) return std::nullopt;
  return nodes_[node].id;
}

}  // namespace qkv::text
