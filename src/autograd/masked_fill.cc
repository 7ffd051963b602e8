#include "qkv/autograd/masked_fill.h"

#include <utility>

#include "autograd/elementwise.h"
#include "autograd/node.h"

namespace qkv {
namespace autograd {
namespace {

Value filled(const Value& x, const Tensor& hidden, double value) {
  const Value from = dense(x);
  Value out = new_value(x.dtype(), x.shape());
  const bool* skip = hidden.values<bool>().data();
  with_real(x.dtype(), [&]<class T>(T) {
    T* to = out.data<T>();
    const T* read = from.data<T>();
    for_pieces(x.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        store(to[i], skip[i] ? static_cast<Computed<T>>(value) : load(read[i]));
      }
    });
  });
  return out;
}

}  // namespace
}  // namespace autograd

Variable masked_fill(const Variable& x, const TensorView& hidden, double value) {
  const autograd::Value& from = autograd::value_of("masked_fill", "x", x);
  if (hidden.dtype() != DType::b8) throw InvalidArgument("masked_fill", "hidden", "b8", name_of(hidden.dtype()));
  const Tensor places(hidden.broadcast_to(from.shape()));
  return autograd::recorded("masked_fill", autograd::filled(from, places, value), {&x},
                            [places](const autograd::Value& d_out, autograd::Gradients& gradients) {
                              gradients.give(0, autograd::filled(d_out, places, 0));
                            });
}

}  // namespace qkv
