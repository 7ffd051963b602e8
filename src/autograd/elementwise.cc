#include "autograd/elementwise.h"

#include <cstring>

namespace qkv::autograd {

void copy_elements(const TensorView& from, Value& out) {
  const Shape& shape = out.shape();
  const Walk<2> walk = merged<2>(shape, {contiguous_strides(shape), from.strides()});
  const std::int64_t step = walk.strides[1][walk.rank - 1];
  with_real(from.dtype(), [&]<class From>(From) {
    with_real(out.dtype(), [&]<class To>(To) {
      To* to = out.data<To>();
      const From* source = from.data_as<From>();
      for_runs<2>(walk, [&](const std::array<std::int64_t, 2>& offsets, std::int64_t count) {
        To* o = to + offsets[0];
        const From* f = source + offsets[1];
        if constexpr (std::is_same_v<From, To>) {
          if (step == 1) {
            std::memcpy(o, f, static_cast<std::size_t>(count) * sizeof(To));
            return;
          }
        }
        vectorised([&]() QKV_INLINED {
          const auto run = [&](std::int64_t by) QKV_INLINED {
            for (std::int64_t i = 0; i < count; ++i) store(o[i], static_cast<Computed<To>>(load(f[i * by])));
          };
          if (step == 1) return run(1);
          run(step);
        });
      });
    });
  });
}

void add_to(Value& to, const Value& from) {
  map(to, to, from, [](auto a, auto b) QKV_INLINED { return a + b; });
}

}  // namespace qkv::autograd
