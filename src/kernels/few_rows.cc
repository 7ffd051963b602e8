#include "kernels/few_rows.h"

#include "kernels/built_targets.h"
#include "kernels/targets.h"

namespace qkv::kernels {
namespace {

using Run = void (*)(const FewRows&, std::int64_t, std::int64_t);

Run chosen() {
  [[maybe_unused]] const std::string_view name = target_for("linear", DType::f32, {});
#if defined(QKV_BUILDS_AVX512)
  if (has_avx512(name)) return avx512::few_rows;
#endif
#if defined(QKV_BUILDS_AVX2)
  if (name == "avx2") return avx2::few_rows;
#endif
  return baseline::few_rows;
}

}  // namespace

void few_rows(const FewRows& product, std::int64_t begin, std::int64_t end) {
  static const Run kRun = chosen();
  kRun(product, begin, end);
}

}  // namespace qkv::kernels
