// The vectors of loops that are compiled once for each width, QKV_VECTOR_BYTES, into the namespace QKV_LOOPS.
#pragma once

#if QKV_VECTOR_BYTES > 16
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>
#include <cstring>

#include "qkv/dtype.h"

namespace qkv::kernels::QKV_LOOPS {
namespace {  // NOLINT(cert-dcl59-cpp,misc-anonymous-namespace-in-header): compiled once per target

constexpr std::int64_t kLanes = QKV_VECTOR_BYTES / sizeof(float);

using Floats = float __attribute__((vector_size(QKV_VECTOR_BYTES)));
using Words = std::uint32_t __attribute__((vector_size(QKV_VECTOR_BYTES)));

[[gnu::always_inline]] inline Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace
}  // namespace qkv::kernels::QKV_LOOPS
