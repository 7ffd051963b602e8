#define QKV_ROWS avx512
#define QKV_VECTOR_BYTES 64
#include "kernels/few_rows-inl.h"
