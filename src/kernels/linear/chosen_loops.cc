#include <type_traits>

#include "kernels/built_targets.h"
#include "kernels/linear/loops.h"
#include "kernels/targets.h"

namespace qkv::kernels::linear {

template <class T>
const Loops<T>& chosen_loops() {
  if constexpr (std::is_same_v<T, float>) {
    [[maybe_unused]] const std::string_view name = target_for("linear_attention", DType::f32, {});
#if defined(QKV_BUILDS_AVX512)
    if (has_avx512(name)) return avx512::loops(T{});
#endif
#if defined(QKV_BUILDS_AVX2)
    if (name == "avx2") return avx2::loops(T{});
#endif
  }
  return baseline::loops(T{});
}

template const Loops<float>& chosen_loops<float>();
template const Loops<double>& chosen_loops<double>();

}  // namespace qkv::kernels::linear
