#define QKV_ROWS avx2
#define QKV_VECTOR_BYTES 32
#include "kernels/few_rows-inl.h"
