#define QKV_LOOPS baseline
#define QKV_VECTOR_BYTES 16
#include "kernels/linear/loops-inl.h"
