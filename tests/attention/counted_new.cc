#include "attention/counted_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> counted = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  ++counted;
  if (void* block = std::malloc(bytes)) return block;  // NOLINT(cppcoreguidelines-no-malloc)
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }                         // NOLINT
void operator delete(void* block, std::size_t /*bytes*/) noexcept { std::free(block); }  // NOLINT

long qkv::testing_attention::allocations() { return counted; }
