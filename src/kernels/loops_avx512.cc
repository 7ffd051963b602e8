#define QKV_LOOPS avx512
#define QKV_VECTOR_BYTES 64
#include "kernels/loops-inl.h"
