#include <qkv/autograd/arithmetic.h>
#include <qkv/autograd/reduce.h>
#include <qkv/nn/linear.h>

int main() {
  const auto x = qkv::Variable::parameter(qkv::Tensor(std::vector<float>{1, 2, 3}, {3}));
  backward(sum(x * x));
  qkv::Generator generator(1);
  const qkv::Linear layer({.in = 3, .out = 2}, generator);
  return x.gradient().at({2}) == 6 && layer.forward(x).dim(0) == 2 ? 0 : 1;
}
