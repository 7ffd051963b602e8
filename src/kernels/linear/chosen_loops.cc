#include <algorithm>

#include "kernels/linear/loops.h"
#include "qkv/info.h"

namespace qkv::kernels::linear {

template <class T>
const Loops<T>& chosen_loops() {
#if defined(__x86_64__)
  const std::vector<CpuTarget> targets = cpu_targets();
  const std::string& name = std::ranges::find(targets, true, &CpuTarget::chosen)->name;
  if (name == "amx" || name == "avx512") return avx512::loops(T{});
  if (name == "avx2") return avx2::loops(T{});
#endif
  return baseline::loops(T{});
}

template const Loops<float>& chosen_loops<float>();
template const Loops<double>& chosen_loops<double>();

}  // namespace qkv::kernels::linear
