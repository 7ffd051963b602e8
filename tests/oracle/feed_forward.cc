#include "oracle/feed_forward.h"

#include "oracle/activation.h"
#include "oracle/elementwise.h"

namespace qkv::oracle {

Tensor FeedForward::forward(const TensorView& x) const {
  if (!gate) return down.forward(activate(activation, up.forward(x)));
  return down.forward(multiply(activate(activation, gate->forward(x)), up.forward(x)));
}

}  // namespace qkv::oracle
