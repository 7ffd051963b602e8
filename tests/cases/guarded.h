// Memory between pages that nobody may touch: who reads or writes beyond it ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "qkv/tensor.h"

namespace qkv::cases {

enum class Edge : std::uint8_t { front, back };

/// `bytes` bytes of 0xFF at the front or the back of whole pages, with a page on either side that faults.
class Guarded {
 public:
  Guarded(std::size_t bytes, Edge edge) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* const memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    if (inner > 0 && mprotect(memory_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = memory_ + page + (edge == Edge::front ? 0 : inner - bytes);
    if (bytes > 0) std::memset(data_, 0xFF, bytes);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(memory_, size_); }

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* memory_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace qkv::cases
