#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"
#include "autograd/special.h"
#include "qkv/autograd/arithmetic.h"

namespace qkv {
namespace autograd {
namespace {

// A function of one variable whose derivative is slope(x).
template <class Function, class Slope>
Variable of_input(std::string_view operation, const Variable& x, const Function& function, const Slope& slope) {
  const Value value = dense(value_of(operation, "x", x));
  Value out = new_value(value.dtype(), value.shape());
  map(out, value, function);
  return recorded(operation, std::move(out), {&x},
                  [slope, kept = Kept(operation, "x", value)](Value d_out, Gradients& gradients) {
                    d_out = dense(d_out);
                    Value d_x = place_like(d_out);
                    map(d_x, kept.value(), d_out, [slope](auto at, auto d) QKV_INLINED { return d * slope(at); });
                    gradients.give(0, std::move(d_x));
                  });
}

// A function of one variable whose derivative is slope(out).
template <class Function, class Slope>
Variable of_output(std::string_view operation, const Variable& x, const Function& function, const Slope& slope) {
  const Value value = dense(value_of(operation, "x", x));
  Value out = new_value(value.dtype(), value.shape());
  map(out, value, function);
  const Kept kept(operation, "the result", out);
  return recorded(operation, std::move(out), {&x}, [slope, kept](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    map(d_x, kept.value(), d_out, [slope](auto at, auto d) QKV_INLINED { return d * slope(at); });
    gradients.give(0, std::move(d_x));
  });
}

// A function whose derivative shares most of its work: function(x, out, slope). If it is recorded, the slopes are
// computed in the forward pass and kept instead of x; the backward pass is then one product.
template <class Function>
Variable with_slope(std::string_view operation, const Variable& x, const Function& function) {
  const Value value = dense(value_of(operation, "x", x));
  Value out = new_value(value.dtype(), value.shape());
  if (!x.requires_gradient() || !recording()) {
    map(out, value, [function](auto at) QKV_INLINED {
      decltype(at) result;
      decltype(at) slope;
      function(at, result, slope);
      return result;
    });
    return recorded(operation, std::move(out), {&x}, nullptr);
  }
  Value slopes = new_value(value.dtype(), value.shape());
  map_with_slope(out, slopes, value, function);
  return recorded(operation, std::move(out), {&x}, [slopes](Value d_out, Gradients& gradients) {
    d_out = dense(d_out);
    Value d_x = place_like(d_out);
    map(d_x, slopes, d_out, [](auto slope, auto d) QKV_INLINED { return d * slope; });
    gradients.give(0, std::move(d_x));
  });
}

template <class Real>
inline constexpr Real kRootTwoOverPi = static_cast<Real>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
template <class Real>
inline constexpr Real kCubic = static_cast<Real>(0.044715);

}  // namespace
}  // namespace autograd

Variable exp(const Variable& x) {
  return autograd::of_output(
      "exp", x, [](auto at) QKV_INLINED { return autograd::exponential(at); },
      [](auto out) QKV_INLINED { return out; });
}

Variable log(const Variable& x) {
  return autograd::of_input(
      "log", x, [](auto at) { return autograd::logarithm(at); }, [](auto at) QKV_INLINED { return 1 / at; });
}

Variable sqrt(const Variable& x) {
  return autograd::of_output(
      "sqrt", x, [](auto at) QKV_INLINED { return std::sqrt(at); },
      [](auto out) QKV_INLINED { return decltype(out){0.5} / out; });
}

Variable tanh(const Variable& x) {
  return autograd::of_output(
      "tanh", x, [](auto at) QKV_INLINED { return autograd::hyperbolic_tangent(at); },
      [](auto out) QKV_INLINED { return 1 - out * out; });
}

Variable sigmoid(const Variable& x) {
  return autograd::of_output(
      "sigmoid", x, [](auto at) QKV_INLINED { return autograd::logistic(at); },
      [](auto out) QKV_INLINED { return out * (1 - out); });
}

Variable relu(const Variable& x) {
  return autograd::of_output(
      "relu", x, [](auto at) QKV_INLINED { return at < 0 ? decltype(at){} : at; },
      [](auto out) QKV_INLINED { return out > 0 ? decltype(out){1} : decltype(out){}; });
}

Variable clamp(const Variable& x, double low, double high) {
  if (!(low <= high)) {
    throw InvalidArgument("clamp", "high", "low, " + std::to_string(low) + ", or more", std::to_string(high));
  }
  return autograd::of_input(
      "clamp", x,
      [low, high](auto at) QKV_INLINED {
        using Real = decltype(at);
        const Real least = static_cast<Real>(low);
        const Real most = static_cast<Real>(high);
        return at < least ? least : at > most ? most : at;
      },
      [low, high](auto at) QKV_INLINED {
        using Real = decltype(at);
        const bool is_cut = at < static_cast<Real>(low) || at > static_cast<Real>(high);
        return is_cut ? Real{} : Real{1};
      });
}

Variable gelu(const Variable& x) {
  return autograd::with_slope("gelu", x, [](auto at, auto& out, auto& slope) QKV_INLINED {
    const auto normal = autograd::normal(at);
    out = at * normal.below;
    slope = normal.below + at * normal.density;
  });
}

Variable gelu_tanh(const Variable& x) {
  return autograd::with_slope("gelu_tanh", x, [](auto at, auto& out, auto& slope) QKV_INLINED {
    using Real = decltype(at);
    const Real square = at * at;
    const Real inner = autograd::kRootTwoOverPi<Real> * (at + autograd::kCubic<Real> * square * at);
    const Real tanh = autograd::hyperbolic_tangent(inner);
    const Real d_inner = autograd::kRootTwoOverPi<Real> * (1 + 3 * autograd::kCubic<Real> * square);
    out = Real{0.5} * at * (1 + tanh);
    slope = Real{0.5} * (1 + tanh) + Real{0.5} * at * (1 - tanh * tanh) * d_inner;
  });
}

Variable silu(const Variable& x) {
  return autograd::with_slope("silu", x, [](auto at, auto& out, auto& slope) QKV_INLINED {
    const auto gate = autograd::logistic(at);
    out = at * gate;
    slope = gate * (1 + at * (1 - gate));
  });
}

}  // namespace qkv
