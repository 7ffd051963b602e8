#include "cluster/sums.h"

#include <cstring>

#include "cluster/tags.h"

namespace qkv::cluster {

void sum_over_ranks(Transport& transport, std::vector<Tensor>& tensors) {
  std::vector<double> sums;
  for (const Tensor& tensor : tensors) {
    const std::span<const double> values = tensor.values<double>();
    sums.insert(sums.end(), values.begin(), values.end());
  }
  if (sums.empty()) return;
  std::vector<std::byte> bytes(sums.size() * sizeof(double));
  std::vector<double> terms(sums.size());
  for (int step = 1; step < transport.size(); step *= 2) {
    if ((transport.rank() & step) != 0) {
      std::memcpy(bytes.data(), sums.data(), bytes.size());
      transport.wait(*transport.isend(transport.rank() - step, kSumTag, bytes));
      break;
    }
    if (transport.rank() + step >= transport.size()) continue;
    transport.wait(*transport.irecv(transport.rank() + step, kSumTag, bytes));
    std::memcpy(terms.data(), bytes.data(), bytes.size());
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += terms[n];
  }
  if (transport.rank() == 0) std::memcpy(bytes.data(), sums.data(), bytes.size());
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
