// Whether all ranks ask the same, before the first byte of data.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/windows.h"
#include "qkv/cluster/transport.h"

namespace qkv::cluster {

/// One thing that all ranks must say alike.
struct Said {
  std::string name;
  std::string value;
};
using Digest = std::vector<Said>;

/// Version, target, options and shares of a call of `function`. Of masks and biases the text and, since that of arrays
/// and predicates is a summary, what they say at some places.
[[nodiscard]] Digest digest_of(std::string_view function, const WholeCall& whole, DType dtype,
                               const std::vector<SequenceShares>& shares);

/// A hash of the elements of a tensor.
[[nodiscard]] std::string hash_text(const TensorView& x);

/// Compares what `say` returns on each rank. A difference throws ClusterError on every rank, with the first thing that
/// differs, both values and both ranks. What `say` throws is thrown on its rank, and on the others a ClusterError that
/// names it.
void agree(Transport& transport, std::string_view function, const std::function<Digest()>& say);

}  // namespace qkv::cluster
