// The loops whose speed bounds attention on a machine. Each set is compiled for one instruction set, in a file of its
// own, and must be called only where the processor offers it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv::bench {

/// Loops over vectors of one width.
struct VectorLoops {
  std::int64_t fma_flops = 0;       // of one call of fma
  void (*fma)() = nullptr;          // multiply-adds on registers alone
  std::int64_t matmul_rows = 0;     // rows of C held in registers
  std::int64_t matmul_columns = 0;  // columns of C held in registers
  // C += A B for `depth` steps: a [depth][rows], b [depth][columns]; the sums are stored to c.
  void (*matmul)(const float* a, const float* b, std::int64_t depth, float* c) = nullptr;
  // out[i] = 2^x[i] by a polynomial of degree 5, relative error 2e-7; count a multiple of 16.
  void (*exp2)(const float* x, std::int64_t count, float* out) = nullptr;
  // Reads every byte once; bytes a multiple of 1024, the address aligned to 64.
  std::uint64_t (*read)(const std::byte* from, std::int64_t bytes) = nullptr;
};

namespace baseline {
VectorLoops vector_loops();
}
#if defined(__x86_64__)
namespace avx2 {
VectorLoops vector_loops();
}
namespace avx512 {
VectorLoops vector_loops();
}

namespace pairs {

inline constexpr int kSums = 12;
inline constexpr std::int64_t kStepFlops = std::int64_t{kSums} * 64;  // 16 sums of two products

/// `steps` steps of multiply-adds of pairs of bf16 on registers alone.
void registers(std::int64_t steps);

}  // namespace pairs

namespace amx {

inline constexpr std::int64_t kTileBytes = 1024;                      // 16 rows of 64 bytes
inline constexpr std::int64_t kStepFlops = std::int64_t{4} * 16'384;  // one step of K = 32 on a 2 x 2 block of tiles
inline constexpr std::int64_t kStepBytes = 2 * kTileBytes;

/// Asks the kernel for the tile registers, for this process. False where it refuses.
bool ask_permission();
/// Loads the tile shapes of the loops below, in this thread.
void configure();
/// Back to the state that other code expects, in this thread.
void release();

/// `steps` steps on registers alone.
void registers(std::int64_t steps);
/// Writes 32 x 32 floats to c: the product of `steps` steps of a (two tiles each) and b (two tiles each).
void block(const std::byte* a, const std::byte* b, std::int64_t steps, float* c);

/// p = 2^(scale * s - shift) stored as bf16, and their sum: what a row of scores becomes. count a multiple of 32.
float softmax_row(const float* s, std::int64_t count, float scale, float shift, std::uint16_t* p);

}  // namespace amx
#endif

}  // namespace qkv::bench
