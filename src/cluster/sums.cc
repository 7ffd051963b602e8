#include "cluster/sums.h"

#include <cstring>

#include "cluster/tags.h"

namespace qkv::cluster {

void send_up(Transport& transport, int tag, std::size_t bytes, const std::function<std::vector<std::byte>()>& own,
             const std::function<void(const std::vector<std::byte>&)>& take) {
  for (int step = 1; step < transport.size(); step *= 2) {
    if ((transport.rank() & step) != 0) {
      const std::vector<std::byte> sent = own();
      return transport.wait(*transport.isend(transport.rank() - step, tag, sent));
    }
    if (transport.rank() + step >= transport.size()) continue;
    std::vector<std::byte> others(bytes);
    transport.wait(*transport.irecv(transport.rank() + step, tag, others));
    take(others);
  }
}

void sum_over_ranks(Transport& transport, std::vector<Tensor>& tensors) {
  std::vector<double> sums;
  for (const Tensor& tensor : tensors) {
    const std::span<const double> values = tensor.values<double>();
    sums.insert(sums.end(), values.begin(), values.end());
  }
  if (sums.empty()) return;
  std::vector<std::byte> bytes(sums.size() * sizeof(double));
  std::vector<double> terms(sums.size());
  const auto own = [&] {
    std::memcpy(bytes.data(), sums.data(), bytes.size());
    return bytes;
  };
  send_up(transport, kSumTag, bytes.size(), own, [&](const std::vector<std::byte>& others) {
    std::memcpy(terms.data(), others.data(), others.size());
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += terms[n];
  });
  if (transport.rank() == 0) own();
  transport.broadcast(0, bytes);
  const std::byte* place = bytes.data();
  for (Tensor& tensor : tensors) {
    const std::span<double> values = tensor.values<double>();
    if (values.empty()) continue;
    std::memcpy(values.data(), place, values.size_bytes());
    place += values.size_bytes();
  }
}

}  // namespace qkv::cluster
