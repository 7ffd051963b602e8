#include "autograd/vectorised.h"

#include "kernels/targets.h"

namespace qkv::autograd {

Vectors chosen_vectors() {
  static const Vectors kChosen = [] {
    const std::string_view name = kernels::target_for("Variable", DType::f32, {});
    if (kernels::has_avx512(name)) return Vectors::avx512;
    return name == "avx2" ? Vectors::avx2 : Vectors::baseline;
  }();
  return kChosen;
}

}  // namespace qkv::autograd
