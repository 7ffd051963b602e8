#include "qkv/nn/recurrent.h"

#include <cmath>

#include "nn/require.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/shape.h"

namespace qkv {
namespace {

constexpr const char* kCell = "GruCell";

double bound_of(const GruOptions& options) {
  nn::require_positive(kCell, "in", options.in);
  nn::require_positive(kCell, "width", options.width);
  return 1.0 / std::sqrt(static_cast<double>(options.width));
}

}  // namespace

GruCell::GruCell(const GruOptions& options, const Init& init)
    : x_weight_(init.uniform({3 * options.width, options.in}, bound_of(options), options.dtype)),
      h_weight_(init.uniform({3 * options.width, options.width}, bound_of(options), options.dtype)),
      x_bias_(init.uniform({3 * options.width}, bound_of(options), options.dtype)),
      h_bias_(init.uniform({3 * options.width}, bound_of(options), options.dtype)) {}

Variable GruCell::forward(const Variable& x, const Variable& h) const {
  nn::require_width(kCell, "x", in(), x.shape());
  nn::require_shape(kCell, "h", {x.dim(0), width()}, h.shape());
  const Variable of_x = linear(x, x_weight_, x_bias_);
  const Variable of_h = linear(h, h_weight_, h_bias_);
  const auto part = [&](const Variable& all, std::int64_t begin, std::int64_t end) {
    return slice(all, 1, begin * width(), end * width());
  };
  const Variable gates = sigmoid(part(of_x, 0, 2) + part(of_h, 0, 2));
  const Variable fresh = tanh(part(of_x, 2, 3) + part(gates, 0, 1) * part(of_h, 2, 3));
  return fresh + part(gates, 1, 2) * (h - fresh);
}

Parameters GruCell::parameters() const {
  return {{"x.weight", x_weight_}, {"h.weight", h_weight_}, {"x.bias", x_bias_}, {"h.bias", h_bias_}};
}

}  // namespace qkv
