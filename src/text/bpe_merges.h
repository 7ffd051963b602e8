// Merges of byte-pair encoding: the two neighbours that rank first are merged first (Sennrich, Haddow and Birch 2016,
// algorithm 1), by a heap over a linked list: O(n log n) for a text of n symbols.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/piece_table.h"

namespace qkv::text {

/// A symbol of a text in a list that is linked both ways, so that a merge costs no move.
struct Symbol {
  std::int32_t id = 0;
  std::uint32_t length = 0;  // bytes; 0 where it was merged away
  std::uint32_t before = 0;
  std::uint32_t next = 0;
};

/// Two symbols become one; of equal ranks the leftmost pair comes first.
class BpeMerges {
 public:
  void reserve(std::size_t count) { merges_.reserve(count); }
  void set(std::int32_t first, std::int32_t second, std::uint32_t rank, std::int32_t both) {
    merges_.set(key_of(first, second), std::uint64_t{rank} << kHalf | static_cast<std::uint32_t>(both));
  }

  /// Merges until no pair is left. Calls `offered(first, second, both)` with the ids of each pair that could be merged,
  /// when it is met.
  template <class Offered>
  void apply(std::vector<Symbol>& symbols, const Offered& offered) const;
  void apply(std::vector<Symbol>& symbols) const {
    apply(symbols, [](std::int32_t, std::int32_t, std::int32_t) {});
  }

 private:
  static constexpr unsigned kHalf = 32;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Merge {
    std::uint32_t rank = 0;
    std::uint32_t place = 0;  // of the first symbol
    std::int32_t id = 0;      // of both together
  };
  // For a heap whose top has the lowest rank, the leftmost of equals.
  static bool comes_later(const Merge& a, const Merge& b) noexcept {
    return a.rank != b.rank ? a.rank > b.rank : a.place > b.place;
  }
  static std::uint64_t key_of(std::int32_t first, std::int32_t second) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(first)} << kHalf | static_cast<std::uint32_t>(second);
  }

  static void link(std::vector<Symbol>& symbols) noexcept {
    for (std::uint32_t n = 0; n < symbols.size(); ++n) {
      symbols[n].before = n == 0 ? kNone : n - 1;
      symbols[n].next = n + 1 == symbols.size() ? kNone : n + 1;
    }
  }
  static void join(std::vector<Symbol>& symbols, const Merge& merge) noexcept {
    Symbol& first = symbols[merge.place];
    Symbol& second = symbols[first.next];
    first.id = merge.id;
    first.length += second.length;
    first.next = second.next;
    second.length = 0;
    if (first.next != kNone) symbols[first.next].before = merge.place;
  }
  [[nodiscard]] std::optional<Merge> merge_at(const std::vector<Symbol>& symbols, std::uint32_t place) const {
    const Symbol& first = symbols[place];
    if (first.next == kNone) return std::nullopt;
    const std::uint64_t* found = merges_.find(key_of(first.id, symbols[first.next].id));
    if (found == nullptr) return std::nullopt;
    return Merge{.rank = static_cast<std::uint32_t>(*found >> kHalf),
                 .place = place,
                 .id = static_cast<std::int32_t>(*found & UINT32_MAX)};
  }

  NumberTable merges_;  // two ids -> rank and the id of both together
};

template <class Offered>
void BpeMerges::apply(std::vector<Symbol>& symbols, const Offered& offered) const {
  link(symbols);
  std::vector<Merge> queue;
  queue.reserve(symbols.size());
  const auto add = [&](std::uint32_t place) {
    if (place == kNone) return false;
    const auto merge = merge_at(symbols, place);
    if (!merge) return false;
    queue.push_back(*merge);
    offered(symbols[place].id, symbols[symbols[place].next].id, merge->id);
    return true;
  };
  for (std::uint32_t n = 0; n < symbols.size(); ++n) add(n);
  std::ranges::make_heap(queue, comes_later);
  const auto push = [&](std::uint32_t place) {
    if (add(place)) std::ranges::push_heap(queue, comes_later);
  };
  while (!queue.empty()) {
    std::ranges::pop_heap(queue, comes_later);
    const Merge top = queue.back();
    queue.pop_back();
    if (symbols[top.place].length == 0) continue;
    const auto now = merge_at(symbols, top.place);
    if (!now || now->id != top.id) continue;  // a neighbour has changed since
    join(symbols, top);
    push(symbols[top.place].before);
    push(top.place);
  }
}

}  // namespace qkv::text
