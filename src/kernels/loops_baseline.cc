// For any machine: of 128 bits, which x86-64, 64-bit Arm and WebAssembly have.
#define QKV_LOOPS baseline
#define QKV_VECTOR_BYTES 16
#include "kernels/loops-inl.h"
