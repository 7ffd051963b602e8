// The loops of quantised products of one target, and which of them a call runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/built_targets.h"
#include "kernels/product/quantised.h"

namespace qkv::kernels {

/// Whether `few` takes two blocks of 32 of the weight at a time: 16 bytes of each are 32 low halves, and 32 high ones.
[[nodiscard]] constexpr bool is_of_halves(core::BlockType type) {
  return type == core::BlockType::q4_0 || type == core::BlockType::q4_1 || type == core::BlockType::iq4_nl;
}

/// Rows of x in 8 bits: x[m][k] is about numbers[m][k] times the scale of its group, of 32 numbers, or of 16 where the
/// weight's scales are of 16. For `few` of a weight is_of_halves() each 64 numbers stand as those halves do: 0 to 15,
/// 32 to 47, 16 to 31, 48 to 63.
struct QuantisedRows {
  const std::int8_t* numbers = nullptr;  // [M][K], from -127 to 127
  const float* scales = nullptr;         // [M][stride]
  const float* sums = nullptr;           // [M][stride]: the scale times the sum of the group's numbers
  std::int64_t M = 0;       // behind which, for `many`, rows of zeros up to a multiple of kMostQuantisedRows
  std::int64_t stride = 0;  // groups of a row, rounded up to 16; those behind the last are zeros
};

/// Rows of x that a loop multiplies at a time, at most; what is left of them divides it.
inline constexpr std::int64_t kMostQuantisedRows = 8;

struct QuantisedProduct {
  QuantisedRows x;
  QuantisedWeight weight;
  const float* bias = nullptr;  // [N]; null for none
  float* out = nullptr;         // [M][out_row]
  std::int64_t out_row = 0;
};

/// Each sum is of whole numbers within a group of x, then f32 over groups, in an order that depends on K alone.
/// Columns [begin, end) of `out`.
struct QuantisedLoops {
  /// Each row of the weight is read once for a few rows of x. Allocates nothing.
  void (*few)(const QuantisedProduct& product, std::int64_t begin, std::int64_t end) = nullptr;
  /// Rows of the weight are first laid side by side in `scratch`. Null where no vectors are wide enough for it to pay.
  void (*many)(const QuantisedProduct& product, std::int64_t begin, std::int64_t end, std::byte* scratch) = nullptr;
  /// Rows that lie side by side: a task should have a multiple of them.
  std::int64_t lanes = 1;
};

/// Bytes that `many` may take for a number of each of the rows of x that it lays anew.
inline constexpr std::int64_t kLaidBytes = 8;

/// Bytes of `scratch` for `columns` columns, 64-byte aligned.
[[nodiscard]] std::size_t many_bytes(const QuantisedWeight& weight, std::int64_t columns);

/// For any machine.
namespace baseline {
extern const QuantisedLoops kQuantised;
}

// <target>::kQuantised, where a target has loops of its own: quantised_<target>.cc.
#define QKV_DECLARE(name)                 \
  namespace name {                        \
  extern const QuantisedLoops kQuantised; \
  }
QKV_BUILT_TARGETS(QKV_DECLARE)
#undef QKV_DECLARE

/// Those of the target that qkv::cpu_targets() chooses, or of the first of its substitutes that has any, or the
/// baseline's. The machine is queried once.
[[nodiscard]] const QuantisedLoops& chosen_quantised();

/// multiply_quantised() by these loops.
void multiply_by(const QuantisedLoops& loops, const MutableTensorView& out, const TensorView& x,
                 const QuantisedWeight& weight, const TensorView* bias);

}  // namespace qkv::kernels
