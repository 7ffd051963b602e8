#include "kernels/cpu/forward.h"
#include "kernels/cpu/targets.h"

namespace qkv::kernels::cpu {

const Target* find_target(std::string_view name) {
#define QKV_ADDRESS(target) &target::kTarget,
  static constexpr const Target* kTargets[] = {QKV_BUILT_TARGETS(QKV_ADDRESS)};
#undef QKV_ADDRESS
  for (const Target* target : kTargets) {
    if (target->name == name) return target;
  }
  return nullptr;
}

}  // namespace qkv::kernels::cpu
