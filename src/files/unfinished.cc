#include "files/unfinished.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace qkv::files::unfinished {
namespace {

// Slots of fixed size, since a handler can neither allocate nor lock.
constexpr std::size_t kLongestName = 4096;
enum class SlotState : std::uint8_t { free, written, taken };
struct Slot {
  std::atomic<SlotState> state = SlotState::free;
  std::array<char, kLongestName> name{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free);

std::array<Slot, 64> slots;

}  // namespace

std::optional<std::size_t> add(const std::string& name) noexcept {
  if (name.size() >= kLongestName) return std::nullopt;
  for (std::size_t n = 0; n < slots.size(); ++n) {
    SlotState free = SlotState::free;
    if (!slots[n].state.compare_exchange_strong(free, SlotState::written)) continue;
    std::ranges::copy(name, slots[n].name.begin());
    slots[n].name[name.size()] = '\0';
    slots[n].state = SlotState::taken;
    return n;
  }
  return std::nullopt;
}

void forget(std::size_t slot) noexcept { slots[slot].state = SlotState::free; }

void remove_all() noexcept {
  for (const Slot& slot : slots) {
    if (slot.state == SlotState::taken) ::unlink(slot.name.data());
  }
  // A folder has an earlier slot than those inside.
  for (std::size_t n = slots.size(); n-- > 0;) {
    if (slots[n].state == SlotState::taken) ::rmdir(slots[n].name.data());
  }
}

}  // namespace qkv::files::unfinished
