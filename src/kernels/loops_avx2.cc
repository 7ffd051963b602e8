#define QKV_LOOPS avx2
#define QKV_VECTOR_BYTES 32
#include "kernels/loops-inl.h"
