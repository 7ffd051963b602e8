#include "insight/counted_bytes.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held = 0;
std::atomic<std::size_t> peak = 0;

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(block);
  std::size_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return block;
}

void let_go(void* block) noexcept {
  if (block != nullptr) held -= malloc_usable_size(block);
  std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
}

std::size_t whole(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }  // NOLINT
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(std::aligned_alloc(static_cast<std::size_t>(alignment), whole(bytes, alignment)));  // NOLINT
}
void operator delete(void* block) noexcept { let_go(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { let_go(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { let_go(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { let_go(block); }

std::size_t qkv::testing_insight::held_bytes() { return held; }
std::size_t qkv::testing_insight::peak_bytes() { return peak; }
void qkv::testing_insight::begin_counting() { peak = held.load(); }
