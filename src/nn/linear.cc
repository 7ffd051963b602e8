#include "qkv/nn/linear.h"

#include <cmath>
#include <utility>

#include "nn/known_linears.h"
#include "nn/require.h"
#include "qkv/autograd/matmul.h"

namespace qkv {
namespace {

double bound_of(const LinearOptions& options) {
  nn::require_positive("Linear", "in", options.in);
  nn::require_positive("Linear", "out", options.out);
  return 1.0 / std::sqrt(static_cast<double>(options.in));
}

}  // namespace

Linear::Linear(const LinearOptions& options, const Init& init)
    : weight_(init.uniform({options.out, options.in}, bound_of(options), options.dtype)) {
  if (options.bias) bias_ = init.uniform({options.out}, bound_of(options), options.dtype);
}

Linear::Linear(Variable weight, Variable bias) : weight_(std::move(weight)), bias_(std::move(bias)) {
  nn::require_table("Linear", "weight", weight_.shape(), weight_.dtype());
  if (!bias_.empty()) nn::require_shape("Linear", "bias", {out()}, bias_.shape());
}

Variable Linear::forward(const Variable& x) const {
  const auto multiply = [&](const Variable& rows) {
    return bias_.empty() ? linear(rows, weight_) : linear(rows, weight_, bias_);
  };
  return nn::has_known_linears() ? nn::known_linear(x, weight_, multiply) : multiply(x);
}

Parameters Linear::parameters() const {
  Parameters all = {{"weight", weight_}};
  if (!bias_.empty()) all.push_back({"bias", bias_});
  return all;
}

}  // namespace qkv
