#define QKV_ROWS baseline
#define QKV_VECTOR_BYTES 16
#include "kernels/few_rows-inl.h"
