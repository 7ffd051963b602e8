// The feature maps of linear attention.
#pragma once

#include <cstdint>

namespace qkv {

enum class FeatureMap : std::uint8_t {
  /// x + 1 above 0, exp(x) below, of queries and keys alike; each query's weights are divided by their sum.
  /// Katharopoulos et al. 2020, equation 7.
  elu_plus_one,
  /// softmax of a query over its D numbers, softmax of each of the D columns of the keys over time: the weights of a
  /// query sum to 1 by themselves. Shen et al. 2018 ("Efficient Attention"), section 3.2, which is not causal; a causal
  /// query takes the softmax over the keys that it sees.
  softmax,
};

}  // namespace qkv
