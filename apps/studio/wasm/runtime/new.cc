// operator new that throws: libc++abi's for WebAssembly ends the program.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* required(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* aligned(std::size_t size, std::align_val_t alignment) noexcept {
  const auto least = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return std::aligned_alloc(least, (size + least - 1) / least * least);
}

}  // namespace

void* operator new(std::size_t size) { return required(std::malloc(size)); }
void* operator new[](std::size_t size) { return required(std::malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return required(aligned(size, alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return required(aligned(size, alignment)); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned(size, alignment);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
