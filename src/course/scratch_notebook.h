// The random tensors of the notebook that builds attention from scratch, drawn in its order from seed 42.
#pragma once

#include <array>

#include "qkv/tensor.h"

namespace qkv::worked {

struct ScratchNotebook {
  Tensor embedding;                               // [4, 8], section 1.1; the ids are 0, 1, 2, 3
  Tensor positions;                               // [4, 8], section 1.2
  Tensor x;                                       // [4, 8]
  Tensor w_q, w_k, w_v;                           // [8, 6], section 2
  std::array<Tensor, 2> head_q, head_k, head_v;   // [8, 4] each, section 5
  Tensor w_o;                                     // [8, 8]
  Tensor packed_q, packed_k, packed_v, packed_o;  // [8, 8], section 6
};

[[nodiscard]] ScratchNotebook draw_scratch_notebook();

}  // namespace qkv::worked
