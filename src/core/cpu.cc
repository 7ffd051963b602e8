#include <fstream>

#include "core/processor.h"
#include "qkv/info.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace qkv {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

// __builtin_cpu_supports takes a literal only. It also asks whether the operating system saves the registers.
#if defined(__x86_64__)
#define QKV_LIST_IF_OFFERED(list, name) \
  if (__builtin_cpu_supports(name)) (list).emplace_back(name)

// GCC 12 has no name for this feature.
bool offers_amx_fp16() {
  constexpr unsigned kLeaf = 7;
  constexpr unsigned kSubleaf = 1;
  constexpr unsigned kBit = 21;  // of eax
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(kLeaf, kSubleaf, &eax, &ebx, &ecx, &edx) != 0 && (eax >> kBit & 1U) != 0;
}

// Linux grants the tile registers (8 KiB per thread) only to processes that ask for them, once for good.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

}  // namespace

std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  std::string line;
  while (std::getline(stream, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(std::string_view(line).substr(0, colon));
    if (key == "model name" || key == "Model") return trimmed(std::string_view(line).substr(colon + 1));
  }
  return "unknown";
}

std::vector<std::string> cpu_instructions() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  QKV_LIST_IF_OFFERED(found, "sse4.2");
  QKV_LIST_IF_OFFERED(found, "avx");
  QKV_LIST_IF_OFFERED(found, "avx2");
  QKV_LIST_IF_OFFERED(found, "fma");
  QKV_LIST_IF_OFFERED(found, "f16c");
  QKV_LIST_IF_OFFERED(found, "avxvnni");
  QKV_LIST_IF_OFFERED(found, "avx512f");
  QKV_LIST_IF_OFFERED(found, "avx512bw");
  QKV_LIST_IF_OFFERED(found, "avx512dq");
  QKV_LIST_IF_OFFERED(found, "avx512vl");
  QKV_LIST_IF_OFFERED(found, "avx512vnni");
  QKV_LIST_IF_OFFERED(found, "avx512bf16");
  QKV_LIST_IF_OFFERED(found, "avx512fp16");
  if (__builtin_cpu_supports("amx-tile") && may_use_tiles()) {
    QKV_LIST_IF_OFFERED(found, "amx-tile");
    QKV_LIST_IF_OFFERED(found, "amx-bf16");
    QKV_LIST_IF_OFFERED(found, "amx-int8");
    if (offers_amx_fp16()) found.emplace_back("amx-fp16");
  }
#elif defined(__aarch64__)
  found.emplace_back("neon");  // part of the base architecture
#if defined(__linux__)
  constexpr unsigned long kDotProducts = 1UL << 20;  // HWCAP_ASIMDDP
  if ((getauxval(AT_HWCAP) & kDotProducts) != 0) found.emplace_back("dotprod");
  constexpr unsigned long kProductsOfI8 = 1UL << 13;  // HWCAP2_I8MM
  if ((getauxval(AT_HWCAP2) & kProductsOfI8) != 0) found.emplace_back("i8mm");
  constexpr unsigned long kBf16 = 1UL << 14;  // HWCAP2_BF16
  if ((getauxval(AT_HWCAP2) & kBf16) != 0) found.emplace_back("bf16");
#endif
#elif defined(__wasm_simd128__)
  found.emplace_back("simd128");  // a module that has them runs nowhere else
#endif
  return found;
}

bool core::is_amd() {
#if defined(__x86_64__)
  static const bool kIs = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") != 0;
  }();
  return kIs;
#else
  return false;
#endif
}

}  // namespace qkv
