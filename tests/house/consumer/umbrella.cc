#include <qkv/qkv.h>

int main() {
  qkv::Generator generator(42);
  const qkv::Tensor x = generator.randn({1, 1, 3, 2});
  const auto [out, lse] = qkv::attention(x, x, x, {.mask = qkv::causal()});
  return out.at({0, 0, 0, 1}) == x.at({0, 0, 0, 1}) && lse.size() == 3 ? 0 : 1;  // the first token sees itself alone
}
