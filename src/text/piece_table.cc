#include "text/piece_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

namespace qkv::text {
namespace {

constexpr std::size_t kFewestSlots = 16;

// Of a power of two: more than half full.
bool is_full(std::size_t used, std::size_t slots) noexcept { return 2 * (used + 1) > slots; }

// A power of two, of which that many are at most half.
std::size_t slots_for(std::size_t count) noexcept { return std::max(kFewestSlots, std::bit_ceil(2 * (count + 1))); }

std::size_t mixed(std::uint64_t key) noexcept {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  constexpr unsigned kHalf = 32;
  key *= kOdd;
  return key ^ (key >> kHalf);
}

}  // namespace

std::size_t PieceTable::slot_of(std::string_view piece) const noexcept {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(piece)&last;
  while (slots_[slot] != kFree && pieces_[static_cast<std::size_t>(slots_[slot])] != piece) slot = (slot + 1) & last;
  return slot;
}

void PieceTable::rehash(std::size_t slots) {
  std::vector<std::int32_t> old = std::exchange(slots_, {});
  slots_.assign(slots, kFree);
  for (const std::int32_t id : old) {
    if (id != kFree) slots_[slot_of(piece(id))] = id;
  }
}

void PieceTable::reserve(std::size_t count) {
  pieces_.reserve(count);
  if (slots_for(count) > slots_.size()) rehash(slots_for(count));
}

bool PieceTable::set(std::int32_t id, std::string piece) {
  const auto place = static_cast<std::size_t>(id);
  if (place >= pieces_.size()) pieces_.resize(place + 1);
  if (is_full(used_, slots_.size())) rehash(std::max(kFewestSlots, 2 * slots_.size()));
  const std::size_t slot = slot_of(piece);
  const bool is_new = slots_[slot] == kFree;
  if (is_new) ++used_;
  pieces_[place] = std::move(piece);
  slots_[slot] = id;
  return is_new;
}

std::optional<std::int32_t> PieceTable::find(std::string_view piece) const noexcept {
  if (slots_.empty()) return std::nullopt;
  const std::int32_t id = slots_[slot_of(piece)];
  return id == kFree ? std::nullopt : std::optional(id);
}

std::optional<std::int32_t> PieceTable::find_byte(unsigned char byte) const noexcept {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr unsigned kHalf = 4;
  std::array<char, 6> text = {'<', '0', 'x', kDigits[byte >> kHalf], kDigits[byte & 0xFU], '>'};
  return find({text.data(), text.size()});
}

std::size_t NumberTable::slot_of(std::uint64_t key) const noexcept {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = mixed(key) & last;
  while (slots_[slot].key != kFree && slots_[slot].key != key) slot = (slot + 1) & last;
  return slot;
}

void NumberTable::rehash(std::size_t slots) {
  const std::vector<Slot> old = std::exchange(slots_, {});
  slots_.resize(slots);
  for (const Slot& slot : old) {
    if (slot.key != kFree) slots_[slot_of(slot.key)] = slot;
  }
}

void NumberTable::reserve(std::size_t count) {
  if (slots_for(count) > slots_.size()) rehash(slots_for(count));
}

void NumberTable::set(std::uint64_t key, std::uint64_t value) {
  if (is_full(used_, slots_.size())) rehash(std::max(kFewestSlots, 2 * slots_.size()));
  Slot& slot = slots_[slot_of(key)];
  if (slot.key == kFree) ++used_;
  slot = {.key = key, .value = value};
}

const std::uint64_t* NumberTable::find(std::uint64_t key) const noexcept {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[slot_of(key)];
  return slot.key == kFree ? nullptr : &slot.value;
}

std::int64_t highest_id(std::size_t count) noexcept {
  constexpr std::int64_t kSpare = 65536;
  return std::min<std::int64_t>(4 * static_cast<std::int64_t>(count) + kSpare, INT32_MAX - 1);
}

PieceTable read_pieces(const JsonField& field) {
  if (!field.is_object()) field.fail("an object of pieces and their numbers");
  PieceTable pieces;
  pieces.reserve(field.size());
  const std::int64_t highest = highest_id(field.size());
  field.each_member([&](const std::string& piece, const JsonValue& value) {
    const auto id = value.natural();
    const bool sound = id && *id <= static_cast<std::uint64_t>(highest);
    if (!sound) field.at(piece).fail("a number from 0 to " + std::to_string(highest));
    const auto number = static_cast<std::int32_t>(*id);
    const bool is_taken = number < pieces.size() && !pieces.piece(number).empty();
    if (is_taken) field.at(piece).fail("a number that \"" + pieces.piece(number) + "\" does not have");
    pieces.set(number, piece);
  });
  return pieces;
}

}  // namespace qkv::text
