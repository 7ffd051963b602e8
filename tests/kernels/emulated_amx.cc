#include "kernels/emulated_amx.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/amx_engine.h"
#include "kernels/cpu/worker.h"

namespace qkv::kernels::cpu {
namespace amx {

/// Registers of 16 rows of 64 bytes, and TDPFP16PS as the manual has it: subnormal elements count, results below 2^-126
/// are 0, the even and the odd elements of pairs are summed apart.
struct EmulatedF16Tiles : F16 {  // NOLINT(misc-use-internal-linkage): own_symbols.cmake looks for its namespace
  template <int kTo>
  static void zero_tile() {
    std::memset(registers[kTo], 0, sizeof(registers[kTo]));
  }
  template <int kTo>
  static void load_tile(const void* from, std::int64_t stride) {
    for (std::int64_t n = 0; n < kSide; ++n) {
      std::memcpy(registers[kTo] + n * kRowBytes, static_cast<const std::byte*>(from) + n * stride, kRowBytes);
    }
  }
  template <int kFrom>
  static void store_tile(void* to, std::int64_t stride) {
    for (std::int64_t n = 0; n < kSide; ++n) {
      std::memcpy(static_cast<std::byte*>(to) + n * stride, registers[kFrom] + n * kRowBytes, kRowBytes);
    }
  }
  template <int kSums, int kLeft, int kRight>
  static void multiply() {
    float left[kSide][kDepth];
    float right[kSide][kDepth];
    widen<kLeft>(left);
    widen<kRight>(right);
    for (std::int64_t m = 0; m < kSide; ++m) {
      float products[kDepth] = {};
      for (std::int64_t k = 0; k < kSide; ++k) {
        for (std::int64_t n = 0; n < kDepth; ++n) {
          products[n] = normal(std::fma(left[m][2 * k + n % 2], right[k][n], products[n]));
        }
      }
      float sums[kSide];
      std::memcpy(sums, registers[kSums] + m * kRowBytes, kRowBytes);
      for (std::int64_t n = 0; n < kSide; ++n) {
        sums[n] = normal(normal(sums[n]) + normal(products[2 * n] + products[2 * n + 1]));
      }
      std::memcpy(registers[kSums] + m * kRowBytes, sums, kRowBytes);
    }
  }

 private:
  [[gnu::always_inline]] static float normal(float x) { return std::fabs(x) < 0x1p-126F ? 0.0F * x : x; }

  template <int kFrom>
  static void widen(float (&to)[kSide][kDepth]) {
    std::uint16_t halves[kSide][kDepth];
    std::memcpy(halves, registers[kFrom], sizeof(halves));
    for (std::int64_t n = 0; n < kSide; ++n) {
      for (std::int64_t d = 0; d < kDepth; ++d) to[n][d] = _cvtsh_ss(halves[n][d]);
    }
  }

  alignas(64) static thread_local std::byte registers[8][kSide * kRowBytes];
};

alignas(64) thread_local std::byte EmulatedF16Tiles::registers[8][kSide * kRowBytes];

}  // namespace amx

using Emulated = Worker<amx::Engine<amx::EmulatedF16Tiles>>;

const Target kEmulatedF16 = {.name = "emulated AMX-FP16",
                             .blocks_a_task = Emulated::blocks_a_task,
                             .worker_bytes = Emulated::worker_bytes,
                             .run = Emulated::run,
                             .merge = Emulated::merge};

}  // namespace qkv::kernels::cpu
