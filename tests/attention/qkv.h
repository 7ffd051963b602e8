// The tensors of a call, and those that come back to it.
#pragma once

#include "qkv/tensor.h"

namespace qkv::testing_attention {

struct Qkv {
  Tensor q;
  Tensor k;
  Tensor v;
};

struct QkvAndUpstream : Qkv {
  Tensor d_out;
  Tensor d_lse;
};

}  // namespace qkv::testing_attention
