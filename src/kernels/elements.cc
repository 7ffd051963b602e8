#include "kernels/elements.h"

#include <cstring>
#include <type_traits>

#include "core/element.h"
#include "kernels/pieces.h"
#include "kernels/vectorised.h"
#include "kernels/with_real.h"

namespace qkv::kernels {
namespace {

// Calls join(to element, from element) for each pair of elements.
template <class From, class To, class Join>
void walk(const TensorView& from, const MutableTensorView& to, const Join& join) {
  const Walk<2> walk = merged<2>(to.shape(), {to.strides(), from.strides()});
  const std::int64_t step_to = walk.strides[0][walk.rank - 1];
  const std::int64_t step_from = walk.strides[1][walk.rank - 1];
  To* target = static_cast<To*>(to.data());
  const From* source = from.data_as<From>();
  for_runs<2>(walk, [&](const std::array<std::int64_t, 2>& offsets, std::int64_t count) {
    To* t = target + offsets[0];
    const From* f = source + offsets[1];
    vectorised<To>([&]() QKV_INLINED {
      const auto run = [&](std::int64_t by_t, std::int64_t by_f) QKV_INLINED {
        QKV_SAME_INDEX
        for (std::int64_t i = 0; i < count; ++i) join(t[i * by_t], f[i * by_f]);
      };
      if (step_to == 1 && step_from == 1) return run(1, 1);
      run(step_to, step_from);
    });
  });
}

// Not a lambda: Clang checks discarded branches there.
template <class From, class To>
QKV_INLINED inline void convert(const From& from, To& to) {
  if constexpr (std::is_same_v<From, To>) {
    to = from;
  } else if constexpr (std::is_same_v<From, double> && sizeof(To) == 2) {
    store(to, core::round_to_odd(from));
  } else {
    store(to, static_cast<Computed<To>>(load(from)));
  }
}

}  // namespace

void copy_elements(const TensorView& from, const MutableTensorView& out) {
  with_real(from.dtype(), [&]<class From>(From) {
    with_real(out.dtype(), [&]<class To>(To) {
      walk<From, To>(from, out, [](To& to, const From& element) QKV_INLINED { convert(element, to); });
    });
  });
}

void add_elements(const TensorView& from, const MutableTensorView& to) {
  with_real(to.dtype(), [&]<class T>(T) {
    walk<T, T>(from, to, [](T& sum, const T& element) QKV_INLINED { store(sum, load(sum) + load(element)); });
  });
}

}  // namespace qkv::kernels
