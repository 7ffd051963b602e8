#include "qkv/autograd/arithmetic.h"

#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/reduce.h"

namespace qkv {
namespace autograd {
namespace {

template <class Function>
Value combined(const Value& a, const Value& b, const Shape& shape, const Function& function) {
  Value out = new_value(a.dtype(), shape);
  map_broadcast(out, a.view, b.view, function);
  return out;
}

struct Pair {
  const Value& a;
  const Value& b;
  Shape shape;
};

Pair pair_of(std::string_view operation, const Variable& a, const Variable& b) {
  const Value& left = value_of(operation, "a", a);
  const Value& right = value_of(operation, "b", b);
  require_dtype(operation, "b", left.dtype(), "a", right.dtype());
  return {left, right, broadcast_shape(operation, left.shape(), right.shape())};
}

// d_out, times `other` where the two broadcast to its shape.
Value product(const Value& d_out, const Value& other) {
  return combined(d_out, other, d_out.shape(), [](auto d, auto x) QKV_INLINED { return d * x; });
}

}  // namespace
}  // namespace autograd

using autograd::Gradients;
using autograd::Kept;
using autograd::Value;

Variable add(const Variable& a, const Variable& b) {
  const auto [left, right, shape] = autograd::pair_of("add", a, b);
  Value out = autograd::combined(left, right, shape, [](auto x, auto y) QKV_INLINED { return x + y; });
  return autograd::recorded(
      "add", std::move(out), {&a, &b},
      [shape_a = left.shape(), shape_b = right.shape()](const Value& d_out, Gradients& gradients) {
        if (gradients.wanted(0)) gradients.give(0, autograd::summed_to(d_out, shape_a));
        if (gradients.wanted(1)) gradients.give(1, autograd::summed_to(d_out, shape_b));
      });
}

Variable sub(const Variable& a, const Variable& b) {
  const auto [left, right, shape] = autograd::pair_of("sub", a, b);
  Value out = autograd::combined(left, right, shape, [](auto x, auto y) QKV_INLINED { return x - y; });
  return autograd::recorded(
      "sub", std::move(out), {&a, &b},
      [shape_a = left.shape(), shape_b = right.shape()](const Value& d_out, Gradients& gradients) {
        if (gradients.wanted(0)) gradients.give(0, autograd::summed_to(d_out, shape_a));
        if (!gradients.wanted(1)) return;
        Value d_b = autograd::new_value(d_out.dtype(), d_out.shape());
        autograd::map_broadcast(d_b, d_out.view, d_out.view, [](auto d, auto) QKV_INLINED { return -d; });
        gradients.give(1, autograd::summed_to(d_b, shape_b));
      });
}

Variable mul(const Variable& a, const Variable& b) {
  const auto [left, right, shape] = autograd::pair_of("mul", a, b);
  Value out = autograd::combined(left, right, shape, [](auto x, auto y) QKV_INLINED { return x * y; });
  return autograd::recorded(
      "mul", std::move(out), {&a, &b},
      [kept_a = Kept("mul", "a", left), kept_b = Kept("mul", "b", right)](const Value& d_out, Gradients& gradients) {
        const Value& x = kept_a.value();
        const Value& y = kept_b.value();
        if (gradients.wanted(0)) gradients.give(0, autograd::summed_to(autograd::product(d_out, y), x.shape()));
        if (gradients.wanted(1)) gradients.give(1, autograd::summed_to(autograd::product(d_out, x), y.shape()));
      });
}

Variable div(const Variable& a, const Variable& b) {
  const auto [left, right, shape] = autograd::pair_of("div", a, b);
  Value out = autograd::combined(left, right, shape, [](auto x, auto y) QKV_INLINED { return x / y; });
  return autograd::recorded(
      "div", std::move(out), {&a, &b},
      [kept_a = Kept("div", "a", left), kept_b = Kept("div", "b", right)](const Value& d_out, Gradients& gradients) {
        const Value& x = kept_a.value();
        const Value& y = kept_b.value();
        const Value d_a =
            autograd::combined(d_out, y, d_out.shape(), [](auto d, auto by) QKV_INLINED { return d / by; });
        if (gradients.wanted(1)) {
          const Value ratio =
              autograd::combined(x, y, d_out.shape(), [](auto top, auto by) QKV_INLINED { return -top / by; });
          gradients.give(1, autograd::summed_to(autograd::product(d_a, ratio), y.shape()));
        }
        if (gradients.wanted(0)) gradients.give(0, autograd::summed_to(d_a, x.shape()));
      });
}

Variable scale(const Variable& x, double factor) {
  const auto times = [factor](auto at, auto) QKV_INLINED { return at * static_cast<decltype(at)>(factor); };
  const Value& value = autograd::value_of("scale", "x", x);
  Value out = autograd::new_value(value.dtype(), value.shape());
  autograd::map_broadcast(out, value.view, value.view, times);
  return autograd::recorded("scale", std::move(out), {&x}, [times](Value d_out, Gradients& gradients) {
    d_out = autograd::dense(d_out);
    Value d_x = autograd::place_like(d_out);
    autograd::map_broadcast(d_x, d_out.view, d_out.view, times);
    gradients.give(0, std::move(d_x));
  });
}

Variable neg(const Variable& x) { return scale(x, -1); }

Variable cast(const Variable& x, DType dtype) {
  const Value& value = autograd::value_of("cast", "x", x);
  if (!is_floating(dtype)) throw InvalidArgument("cast", "dtype", "f64, f32, bf16 or f16", name_of(dtype));
  if (dtype == value.dtype()) return x;
  return autograd::recorded("cast", autograd::copied(value.view, dtype), {&x},
                            [from = value.dtype()](const Value& d_out, Gradients& gradients) {
                              gradients.give(0, autograd::copied(d_out.view, from));
                            });
}

}  // namespace qkv
