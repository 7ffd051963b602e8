#include <qkv/cluster/local.h>

#include <atomic>

int main() {
  std::atomic<int> sum = 0;
  qkv::run_local(3, [&](qkv::Transport& transport) {
    transport.barrier();
    sum += transport.rank();
  });
  return sum == 3 ? 0 : 1;
}
