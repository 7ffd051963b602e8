#include "allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> held{0};
std::atomic<std::int64_t> most_held{0};

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  const std::int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t most = most_held.load(std::memory_order_relaxed);
  while (most < now && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  held.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  std::free(block);  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
}

}  // namespace

// The forms for arrays and those that do not throw come to these.
void* operator new(std::size_t bytes) { return counted(std::malloc(std::max<std::size_t>(bytes, 1))); }

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(multiple, std::max<std::size_t>((bytes + multiple - 1) / multiple, 1) * multiple));
}

void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { release(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { release(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { release(block); }

namespace qkv::cli {

PeakMeter::PeakMeter() noexcept : before_(held.load()) { most_held.store(before_); }

std::int64_t PeakMeter::bytes() const noexcept { return most_held.load() - before_; }

}  // namespace qkv::cli
