#include <qkv/autograd/arithmetic.h>
#include <qkv/autograd/reduce.h>

int main() {
  const auto x = qkv::Variable::parameter(qkv::Tensor(std::vector<float>{1, 2, 3}, {3}));
  backward(sum(x * x));
  return x.gradient().at({2}) == 6 ? 0 : 1;
}
