#include "qkv/nn/activation.h"

#include <array>
#include <string>

#include "core/found.h"
#include "core/listed.h"
#include "qkv/autograd/arithmetic.h"

namespace qkv {
namespace {

constexpr std::array kActivations = {
    Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu, Activation::relu,  Activation::silu,
    Activation::tanh, Activation::sigmoid,   Activation::leaky_relu, Activation::relu2, Activation::linear};
constexpr double kLeak = 0.01;

}  // namespace

std::string_view name_of(Activation activation) noexcept {
  constexpr std::array<std::string_view, kActivations.size()> kNames = {
      "gelu", "gelu_tanh", "quick_gelu", "relu", "silu", "tanh", "sigmoid", "leaky_relu", "relu2", "linear"};
  return kNames[static_cast<std::size_t>(activation)];
}

Activation activation_named(std::string_view name) {
  if (const auto* const found = core::found_in(kActivations, name, core::NameOf())) return *found;
  throw InvalidArgument("activation_named", "name", "one of " + core::joined(kActivations, core::NameOf()),
                        "\"" + std::string(name) + "\"");
}

Variable activate(Activation activation, const Variable& x) {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::quick_gelu:
      return x * sigmoid(scale(x, 1.702));
    case Activation::relu:
      return relu(x);
    case Activation::silu:
      return silu(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::leaky_relu:
      return relu(x) - scale(relu(-x), kLeak);
    case Activation::relu2:
      return relu(x) * relu(x);
    case Activation::linear:
      return x;
  }
  __builtin_unreachable();
}

}  // namespace qkv
