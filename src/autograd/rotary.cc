#include "qkv/autograd/rotary.h"

#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"

namespace qkv {
namespace autograd {
namespace {

/// cos and sin of one dtype, dense.
struct Tables {
  Value cos;
  Value sin;
  RotaryLayout layout;
};

enum class Turn : std::uint8_t { forward, back };

template <Turn kTurn, class T>
QKV_INLINED inline void turn_row(const T* x, T* out, const Computed<T>* cos, const Computed<T>* sin, std::int64_t pairs,
                                 std::int64_t first, std::int64_t second, std::int64_t step) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const Computed<T> a = load(x[first + i * step]);
    const Computed<T> b = load(x[second + i * step]);
    const Computed<T> s = kTurn == Turn::forward ? sin[i] : -sin[i];
    store(out[first + i * step], a * cos[i] - b * s);
    store(out[second + i * step], a * s + b * cos[i]);
  }
}

template <Turn kTurn>
Value turned(const Value& x, const Tables& tables) {
  const Shape& shape = x.shape();
  const std::int64_t B = shape[0];
  const std::int64_t H = shape[1];
  const std::int64_t T = shape[2];
  const std::int64_t D = shape[3];
  Value out = new_value(x.dtype(), {B, T, H, D});
  const std::int64_t pairs = tables.cos.view.dim(-1);
  const bool per_batch = tables.cos.view.rank() == 3;
  const bool split = tables.layout == RotaryLayout::half_split;
  const Value from = D > 1 && x.view.strides()[3] != 1 ? copied(x.view, x.dtype()) : x;
  const Strides& strides = from.view.strides();
  with_real(x.dtype(), [&]<class E>(E) {
    const E* read = from.data<E>();
    E* write = out.data<E>();
    const auto* cos = tables.cos.data<Computed<E>>();
    const auto* sin = tables.sin.data<Computed<E>>();
    for_rows(B * T, H * D, [&](std::int64_t begin, std::int64_t end) {
      vectorised<E>([&]() QKV_INLINED {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t table = (per_batch ? row : row % T) * pairs;
          for (std::int64_t h = 0; h < H; ++h) {
            const E* source = read + row / T * strides[0] + h * strides[1] + row % T * strides[2];
            E* target = write + (row * H + h) * D;
            if (split) {
              turn_row<kTurn>(source, target, cos + table, sin + table, pairs, 0, pairs, 1);
            } else {
              turn_row<kTurn>(source, target, cos + table, sin + table, pairs, 0, 1, 2);
            }
            for (std::int64_t i = 2 * pairs; i < D; ++i) target[i] = source[i];
          }
        }
      });
    });
  });
  out.view = out.view.transpose(1, 2);
  return out;
}

void require_table(std::string_view name, const TensorView& table, const TensorView& x) {
  const bool per_batch = table.rank() == 3 && table.dim(0) == x.dim(0);
  const bool fits = (table.rank() == 2 || per_batch) && table.dim(-2) == x.dim(2) && table.dim(-1) > 0 &&
                    2 * table.dim(-1) <= x.dim(3);
  if (fits) return;
  const std::string T = std::to_string(x.dim(2));
  throw InvalidArgument("rotary", name,
                        "[" + T + ", pairs] or [" + std::to_string(x.dim(0)) + ", " + T + ", pairs] with 1 to " +
                            std::to_string(x.dim(3) / 2) + " pairs",
                        table.shape().to_string());
}

}  // namespace
}  // namespace autograd

std::string_view name_of(RotaryLayout layout) noexcept {
  return layout == RotaryLayout::interleaved ? "interleaved" : "half_split";
}

Variable rotary(const Variable& x, const RotaryTables& tables) {
  using autograd::Value;
  const Value& from = autograd::value_of("rotary", "x", x);
  if (from.view.rank() != 4) throw InvalidArgument("rotary", "x", "[B, H, T, D]", from.shape().to_string());
  autograd::require_table("cos", tables.cos, from.view);
  autograd::require_table("sin", tables.sin, from.view);
  if (!(tables.cos.shape() == tables.sin.shape())) {
    throw InvalidArgument("rotary", "sin", tables.cos.shape().to_string(), tables.sin.shape().to_string());
  }
  const DType computed = from.dtype() == DType::f64 ? DType::f64 : DType::f32;
  autograd::Tables used{.cos = autograd::value_of(tables.cos.to(computed)),
                        .sin = autograd::value_of(tables.sin.to(computed)),
                        .layout = tables.layout};
  Value out = autograd::turned<autograd::Turn::forward>(from, used);
  return autograd::recorded("rotary", std::move(out), {&x},
                            [used = std::move(used)](const Value& d_out, autograd::Gradients& gradients) {
                              gradients.give(0, autograd::turned<autograd::Turn::back>(d_out, used));
                            });
}

}  // namespace qkv
