#include <qkv/qkv.h>

int main() {
  qkv::Generator generator(42);
  const qkv::Tensor x = generator.randn({1, 1, 3, 2});
  return qkv::attention(x, x, x, {.mask = qkv::causal()}).lse.size() == 3 ? 0 : 1;
}
