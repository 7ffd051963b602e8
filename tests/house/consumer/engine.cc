#include <qkv/random.h>
#include <qkv/tensor.h>

int main() {
  qkv::Generator generator(42);
  const qkv::Tensor x = generator.randn({2, 4});
  return x.size() == 8 ? 0 : 1;
}
