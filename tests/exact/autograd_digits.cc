// The operations of autograd with their gradients, and steps of a small transformer.
#include <functional>
#include <string>

#include "exact/digits.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/autograd/attention.h"
#include "qkv/autograd/dropout.h"
#include "qkv/autograd/embedding.h"
#include "qkv/autograd/matmul.h"
#include "qkv/autograd/norm.h"
#include "qkv/autograd/reduce.h"
#include "qkv/autograd/rotary.h"
#include "qkv/autograd/shape.h"
#include "qkv/autograd/softmax.h"
#include "qkv/nn/position.h"

namespace qkv::digits {
namespace {

using Parameters = std::vector<Variable>;

Variable parameter(const Shape& shape, std::uint64_t seed) { return Variable::parameter(normal(shape, seed)); }

// The result, and each parameter's gradient of its sum with weights of normal numbers.
void print_operation(const std::string& name, const Parameters& parameters, const Variable& result) {
  print("operation " + name, result.value());
  backward(result, normal(result.shape(), 99));
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    print("operation " + name + ", gradient " + std::to_string(n), parameters[n].gradient());
  }
}

void print_unary(const std::string& name, const std::function<Variable(const Variable&)>& operation) {
  const Variable x = parameter({7, 131}, 41);
  print_operation(name, {x}, operation(x));
}

void print_binary(const std::string& name, const std::function<Variable(const Variable&, const Variable&)>& operation,
                  const Shape& a, const Shape& b) {
  const Variable x = parameter(a, 42);
  const Variable y = parameter(b, 43);
  print_operation(name, {x, y}, operation(x, y));
}

}  // namespace

void print_operations() {
  print_unary("exp", [](const Variable& x) { return exp(x); });
  print_unary("log", [](const Variable& x) { return log(x * x); });
  print_unary("sqrt", [](const Variable& x) { return sqrt(x * x); });
  print_unary("tanh", [](const Variable& x) { return tanh(x); });
  print_unary("sigmoid", [](const Variable& x) { return sigmoid(x); });
  print_unary("relu", [](const Variable& x) { return relu(x); });
  print_unary("gelu", [](const Variable& x) { return gelu(x * 3); });
  print_unary("gelu_tanh", [](const Variable& x) { return gelu_tanh(x); });
  print_unary("silu", [](const Variable& x) { return silu(x); });
  print_unary("softmax", [](const Variable& x) { return softmax(x); });
  print_unary("softmax along 0", [](const Variable& x) { return softmax(x, 0); });
  print_unary("log_softmax", [](const Variable& x) { return log_softmax(x); });
  print_unary("sum", [](const Variable& x) { return sum(x); });
  print_unary("mean along 0", [](const Variable& x) { return mean(x, {0}); });
  print_unary("mean along 1", [](const Variable& x) { return mean(x, {1}); });
  print_unary("dropout", [](const Variable& x) { return dropout(x, {.p = 0.3, .seed = 4}); });
  print_unary("cross_entropy", [](const Variable& x) {
    return cross_entropy(x, Tensor(std::vector<std::int64_t>{1, 5, -100, 130, 0, 64, 7}, {7}),
                         {.label_smoothing = 0.1});
  });
  print_unary("rms_norm", [](const Variable& x) { return rms_norm(x, Variable(normal({131}, 44))); });
  print_binary("add", add, {5, 1, 67}, {3, 67});
  print_binary("sub", sub, {5, 1, 67}, {3, 67});
  print_binary("mul", mul, {5, 1, 67}, {3, 1});
  print_binary("div", div, {5, 1, 67}, {3, 67});
  print_binary("matmul", matmul, {2, 37, 53}, {53, 301});
  print_binary("linear", [](const Variable& x, const Variable& w) { return linear(x, w); }, {40, 65}, {33, 65});
  const Variable x = parameter({3, 5, 77}, 45);
  const Variable weight = parameter({77}, 46);
  const Variable bias = parameter({77}, 47);
  print_operation("layer_norm", {x, weight, bias}, layer_norm(x, weight, bias));
  const Variable heads = parameter({2, 3, 19, 20}, 48);
  print_operation("rotary", {heads}, rotary(heads, rotary_tables({.dim = 16}, 19, DType::f64)));
}

// A decoder of one block on 2 x 12 tokens: three steps of gradient descent.
void print_transformer_steps() {
  constexpr std::int64_t kT = 12;
  constexpr std::int64_t kWidth = 24;
  const std::vector<std::pair<std::string, Shape>> shapes = {
      {"table", {17, kWidth}}, {"norm_1", {kWidth}}, {"shift_1", {kWidth}},     {"q", {kWidth, kWidth}},
      {"k", {12, kWidth}},     {"v", {12, kWidth}},  {"out", {kWidth, kWidth}}, {"norm_2", {kWidth}},
      {"up", {60, kWidth}},    {"up_bias", {60}},    {"down", {kWidth, 60}},    {"head", {17, kWidth}}};
  std::vector<Variable> p;
  for (const auto& [name, shape] : shapes) p.push_back(parameter(shape, 60 + p.size()));
  std::vector<std::int64_t> tokens;
  for (std::int64_t n = 0; n < 2 * (kT + 1); ++n) tokens.push_back(n * n * 5 % 17);
  const Tensor all(tokens, {2, kT + 1});
  const TensorView ids = all.view().slice(1, 0, kT);
  const TensorView next = all.view().slice(1, 1, kT + 1);
  const Variable positions(sinusoidal(kT, kWidth, 10000, DType::f64));
  const RotaryTables tables = rotary_tables({.dim = 6}, kT, DType::f64);
  for (int step = 0; step < 3; ++step) {
    Variable x = embedding(p[0], ids) + positions;
    const Variable normed = layer_norm(x, p[1], p[2]);
    const Variable q = rotary(split_heads(linear(normed, p[3]), 4), tables);
    const Variable k = rotary(split_heads(linear(normed, p[4]), 2), tables);
    const Variable v = split_heads(linear(normed, p[5]), 2);
    const AttentionOptions options = {.softcap = 20, .bias = alibi(), .mask = causal()};
    x = x + linear(merge_heads(attention(q, k, v, options)), p[6]);
    x = x + linear(gelu(linear(rms_norm(x, p[7]), p[8], p[9])), p[10]);
    const Variable loss = cross_entropy(linear(x, p[11]), Tensor(next));
    backward(loss);
    print("step " + std::to_string(step) + " loss", loss.value());
    for (std::size_t n = 0; n < p.size(); ++n) {
      print("step " + std::to_string(step) + " gradient of " + shapes[n].first, p[n].gradient());
      std::vector<double> value = p[n].value().to_vector();
      const std::vector<double> gradient = p[n].gradient().to_vector();
      for (std::size_t i = 0; i < value.size(); ++i) value[i] -= 0.05 * gradient[i];
      p[n] = Variable::parameter(Tensor(value, p[n].shape()));
    }
  }
}

}  // namespace qkv::digits
