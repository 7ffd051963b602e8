// Needs AVX-512 with BF16, and AMX with BF16.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ceilings/loops.h"
#include "ceilings/vector-inl.h"

namespace qkv::bench::amx {
namespace {

constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
constexpr int kRowBytes = 64;

struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// Tiles 0 to 3 are C, 4 and 5 rows of A, 6 and 7 columns of B.
void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

}  // namespace

bool ask_permission() { return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0; }

void configure() {
  // Static: GCC 12 knows only of the first 8 bytes that this instruction reads, and would leave out the others' stores.
  static const TileShapes shapes = [] {
    TileShapes all;
    for (int tile = 0; tile < 8; ++tile) {
      all.row_bytes[tile] = kRowBytes;
      all.rows[tile] = 16;
    }
    return all;
  }();
  _tile_loadconfig(&shapes);
}

void release() { _tile_release(); }

void registers(std::int64_t steps) {
  clear_sums();
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t step = 0; step < steps; ++step) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

void block(const std::byte* a, const std::byte* b, std::int64_t steps, float* c) {
  clear_sums();
  for (std::int64_t step = 0; step < steps; ++step) {
    _tile_loadd(6, b + step * kStepBytes, kRowBytes);
    _tile_loadd(4, a + step * kStepBytes, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + step * kStepBytes + kTileBytes, kRowBytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + step * kStepBytes + kTileBytes, kRowBytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  constexpr int kStride = 2 * kRowBytes;
  float* lower = c + std::int64_t{16} * 32;
  _tile_stored(0, c, kStride);
  _tile_stored(1, c + 16, kStride);
  _tile_stored(2, lower, kStride);
  _tile_stored(3, lower + 16, kStride);
}

float softmax_row(const float* s, std::int64_t count, float scale, float shift, std::uint16_t* p) {
  const Floats offset = splat(shift);
  Floats sum_low{};
  Floats sum_high{};
  for (std::int64_t i = 0; i < count; i += 2 * kLanes) {
    const Floats low = exp2_of(load(s + i) * scale - offset);
    const Floats high = exp2_of(load(s + i + kLanes) * scale - offset);
    sum_low += low;
    sum_high += high;
    const __m512bh pair = _mm512_cvtne2ps_pbh(high, low);
    std::memcpy(p + i, &pair, sizeof(pair));
  }
  const Floats sums = sum_low + sum_high;
  float sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  return sum;
}

}  // namespace qkv::bench::amx
