// The pieces of a vocabulary by number and by text, and small hash tables for loops over words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_field.h"

namespace qkv::text {

/// Numbers may have gaps, whose pieces are empty and are not found.
class PieceTable {
 public:
  PieceTable() = default;
  PieceTable(PieceTable&&) noexcept = default;
  PieceTable& operator=(PieceTable&&) noexcept = default;
  PieceTable(const PieceTable&) = delete;
  PieceTable& operator=(const PieceTable&) = delete;
  ~PieceTable() = default;

  /// Makes room for that many pieces at once.
  void reserve(std::size_t count);
  /// The number is free, 0 or more. The later of two pieces with one text is found. Whether the text is a new one.
  bool set(std::int32_t id, std::string piece);
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const noexcept;
  /// One more than the highest number.
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(pieces_.size()); }
  [[nodiscard]] const std::string& piece(std::int32_t id) const noexcept {
    return pieces_[static_cast<std::size_t>(id)];
  }
  /// The id of the piece "<0x0A>" that stands for a byte.
  [[nodiscard]] std::optional<std::int32_t> find_byte(unsigned char byte) const noexcept;

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view piece) const noexcept;
  void rehash(std::size_t slots);

  std::vector<std::string> pieces_;
  std::vector<std::int32_t> slots_;  // ids by hash; kFree where there is none
  std::size_t used_ = 0;
  static constexpr std::int32_t kFree = -1;
};

/// From 64 bits to 64 bits, of keys that are not ~0.
class NumberTable {
 public:
  void reserve(std::size_t count);
  void set(std::uint64_t key, std::uint64_t value);
  [[nodiscard]] const std::uint64_t* find(std::uint64_t key) const noexcept;

 private:
  struct Slot {
    std::uint64_t key = kFree;
    std::uint64_t value = 0;
  };
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept;
  void rehash(std::size_t slots);

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
};

/// {"piece": 0, …}. Throws Error for a number that is not one, or so high that most numbers below would be gaps.
[[nodiscard]] PieceTable read_pieces(const JsonField& field);

/// The highest number that a vocabulary of `count` pieces may have.
[[nodiscard]] std::int64_t highest_id(std::size_t count) noexcept;

}  // namespace qkv::text
