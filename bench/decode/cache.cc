#include "decode/cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

#include "qkv/random.h"

namespace qkv::bench {
namespace {

constexpr float kScale = 0.01F;  // of a row in i8

std::int64_t pages_of(std::int64_t tokens, std::int64_t page_tokens) {
  return (tokens + page_tokens - 1) / page_tokens;
}

std::int64_t slots_of(const CacheShape& shape) {
  if (!shape.page_tokens) return shape.lengths.front();
  std::int64_t pages = pages_of(shape.prefix, *shape.page_tokens);
  for (const std::int64_t length : shape.lengths) pages += pages_of(length - shape.prefix, *shape.page_tokens);
  return pages * *shape.page_tokens;
}

std::int64_t row_bytes(const CacheShape& shape, DType dtype) {
  return shape.D * static_cast<std::int64_t>(size_of(dtype));
}

// The same numbers again and again: drawing each would take longer than all that is timed.
void fill(const Memory& memory, DType dtype) {
  constexpr std::int64_t kDrawn = 1 << 20;
  Generator random(1);
  const Tensor numbers = random.randn({kDrawn});
  std::vector<std::byte> some;
  if (dtype == DType::i8) {
    for (const double x : numbers.to_vector())
      some.push_back(static_cast<std::byte>(std::clamp(x * 40, -127.0, 127.0)));
  } else {
    const Tensor rounded = numbers.to(dtype);
    const auto* first = static_cast<const std::byte*>(rounded.data());
    some.assign(first, first + kDrawn * static_cast<std::int64_t>(size_of(dtype)));
  }
  const auto step = static_cast<std::int64_t>(some.size());
  for (std::int64_t at = 0; at < memory.bytes(); at += step) {
    std::memcpy(memory.data() + at, some.data(), static_cast<std::size_t>(std::min(step, memory.bytes() - at)));
  }
}

void fill_scales(const Memory& memory) {
  std::fill_n(reinterpret_cast<float*>(memory.data()), memory.bytes() / static_cast<std::int64_t>(sizeof(float)),
              kScale);
}

TensorView view_of(const Memory& memory, DType dtype, const Shape& shape) {
  return {memory.data(), dtype, shape, contiguous_strides(shape)};
}

// Pages in the order that a server which has run for a while hands them out in: none.
Tensor table_of(const CacheShape& shape, std::int64_t pages) {
  if (!shape.page_tokens) return {};
  std::vector<std::int32_t> free(static_cast<std::size_t>(pages));
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), std::mt19937_64(1));
  const auto take = [&] {
    const std::int32_t page = free.back();
    free.pop_back();
    return page;
  };
  const std::int64_t longest = *std::ranges::max_element(shape.lengths);
  const std::int64_t columns =
      pages_of(shape.prefix, *shape.page_tokens) + pages_of(longest - shape.prefix, *shape.page_tokens);
  std::vector<std::int32_t> prefix;
  for (std::int64_t n = 0; n < pages_of(shape.prefix, *shape.page_tokens); ++n) prefix.push_back(take());
  std::vector<std::int32_t> table;
  for (const std::int64_t length : shape.lengths) {
    std::vector<std::int32_t> row = prefix;
    for (std::int64_t n = 0; n < pages_of(length - shape.prefix, *shape.page_tokens); ++n) row.push_back(take());
    row.resize(static_cast<std::size_t>(columns));
    table.insert(table.end(), row.begin(), row.end());
  }
  return Tensor(table, {static_cast<std::int64_t>(shape.lengths.size()), columns});
}

}  // namespace

Memory::Memory(std::int64_t bytes, bool large_pages) : bytes_(bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  madvise(at, size, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(at);
}

Memory::~Memory() { munmap(data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes_, 1))); }

Cache::Cache(const CacheShape& shape, DType dtype, bool large_pages)
    : shape_(shape),
      dtype_(dtype),
      pages_(shape.page_tokens ? slots_of(shape) / *shape.page_tokens : 1),
      table_(table_of(shape, pages_)),
      k_(shape.Hk * slots_of(shape) * row_bytes(shape, dtype), large_pages),
      v_(k_.bytes(), large_pages),
      k_scales_(dtype == DType::i8 ? shape.Hk * slots_of(shape) * static_cast<std::int64_t>(sizeof(float)) : 0,
                large_pages),
      v_scales_(k_scales_.bytes(), large_pages) {
  for (const Memory* memory : {&k_, &v_}) fill(*memory, dtype);
  for (const Memory* memory : {&k_scales_, &v_scales_}) fill_scales(*memory);
}

KvCacheView Cache::view() const {
  const std::int64_t tokens = shape_.page_tokens.value_or(shape_.lengths.front());
  const Shape rows = {pages_, shape_.Hk, tokens, shape_.D};
  KvBuffers buffers = {.k = view_of(k_, dtype_, rows), .v = view_of(v_, dtype_, rows)};
  if (dtype_ == DType::i8) {
    buffers.k_scales = view_of(k_scales_, DType::f32, rows.without(3));
    buffers.v_scales = view_of(v_scales_, DType::f32, rows.without(3));
  }
  return shape_.page_tokens ? KvCacheView(buffers, table_, shape_.lengths) : KvCacheView(buffers, shape_.lengths);
}

std::int64_t Cache::bytes() const {
  std::int64_t tokens = shape_.prefix;
  for (const std::int64_t length : shape_.lengths) tokens += length - shape_.prefix;
  const std::int64_t scale_bytes = dtype_ == DType::i8 ? static_cast<std::int64_t>(sizeof(float)) : 0;
  return 2 * shape_.Hk * tokens * (row_bytes(shape_, dtype_) + scale_bytes);
}

}  // namespace qkv::bench
