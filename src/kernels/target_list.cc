#include "kernels/target_list.h"

#include <algorithm>
#include <string>

#include "core/processor.h"
#include "kernels/cpu/tile_types.h"
#include "qkv/info.h"

namespace qkv::kernels {
namespace {

bool never() { return false; }

// Where only the type of the keys matters.
bool no_type(DType /*dtype*/) { return false; }

bool is_bf16(DType dtype) { return dtype == DType::bf16; }

// f32 as parts of bf16.
bool tiles_multiply_parts(DType dtype) { return dtype == DType::f32 || cpu::tiles_multiply(dtype); }

#define QKV_NEEDS_AVX512 "avx512f avx512bw avx512dq avx512vl"
#if defined(QKV_EMULATE_TILES)
#define QKV_NEEDS_AMX QKV_NEEDS_AVX512 " avx512vnni avx512bf16"
#else
#define QKV_NEEDS_AMX QKV_NEEDS_AVX512 " avx512vnni avx512bf16 amx-tile amx-bf16 amx-int8"
#endif

constexpr ListedTarget kTargets[] = {
    {.name = "reference", .needs = "", .line = "everything, as docs/semantics.md has it: the specification"},
    {.name = "scalar", .needs = "", .line = "f32, f16 and bf16 on any processor"},
    {.name = "simd128", .needs = "simd128", .line = "f32, f16 and bf16 on WebAssembly's vectors of 4 floats"},
    {.name = "neon", .needs = "neon", .line = "f32, f16 and bf16 on vectors of 4 floats"},
    {.name = "neondot",
     .needs = "neon dotprod",
     .line = "products with quantised weights, as whole numbers (`sdot`)",
     .serves = no_type,
     .substitute = "neon"},
    {.name = "neoni8mm",
     .needs = "neon dotprod i8mm",
     .line = "products of many rows with quantised weights, in quads of whole numbers (`smmla`)",
     .serves = no_type,
     .substitute = "neondot"},
    {.name = "neonbf16",
     .needs = "neon dotprod i8mm bf16",
     .line = "bf16 in quads (`bfmmla`) forward, in pairs (`bfdot`) backward",
     .serves = is_bf16,
     .substitute = "neoni8mm"},
    {.name = "avx2", .needs = "avx2 fma f16c", .line = "f32, f16 and bf16 on vectors of 8 floats"},
    {.name = "avx2vnni",
     .needs = "avx2 fma f16c avxvnni",
     .line = "products with quantised weights, as whole numbers (`vpdpbusd`)",
     .serves = no_type,
     .substitute = "avx2"},
    {.name = "avx512", .needs = QKV_NEEDS_AVX512, .line = "f32, f16 and bf16 on vectors of 16 floats"},
    {.name = "avx512vnni",
     .needs = QKV_NEEDS_AVX512 " avx512vnni",
     .line = "few queries over caches of i8, as whole numbers (`vpdpbusd`)",
     .serves = no_type,
     .substitute = "avx512"},
    // AMD's processors multiply a vector of pairs as fast as one of floats; Intel's take four times as long.
    {.name = "avx512bf16",
     .needs = QKV_NEEDS_AVX512 " avx512vnni avx512bf16",
     .line = "bf16 in pairs (`vdpbf16ps`); chosen on AMD's processors",
     .serves = is_bf16,
     .substitute = "avx512vnni",
     .is_fast_here = core::is_amd},
    {.name = "amx",
     .needs = QKV_NEEDS_AMX,
     .line = "bf16, caches of i8, products with quantised weights, and f16 where there is AMX-FP16, on the tile unit",
     .serves = cpu::tiles_multiply,
     .substitute = "avx512vnni"},
    // Not yet measured on a tile unit.
    {.name = "amxf32",
     .needs = QKV_NEEDS_AMX,
     .line = "f32 in three parts of bf16 on the tile unit; runs only where it is asked for",
     .serves = tiles_multiply_parts,
     .substitute = "amx",
     .is_fast_here = never},
};

bool is_offered(std::string_view word) {
  static const std::vector<std::string> kOffered = cpu_instructions();
  return std::ranges::find(kOffered, word) != kOffered.end();
}

}  // namespace

std::span<const ListedTarget> target_list() { return kTargets; }

const ListedTarget* find_listed(std::string_view name) {
  const auto* found = std::ranges::find(kTargets, name, &ListedTarget::name);
  return found == std::ranges::end(kTargets) ? nullptr : found;
}

bool runs_here(const ListedTarget& target) {
  std::string_view rest = target.needs;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (!is_offered(word)) return false;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return true;
}

bool is_fast_here(const ListedTarget& target) { return target.is_fast_here == nullptr || target.is_fast_here(); }

std::vector<std::string_view> native_targets() {
  const ListedTarget* target = std::ranges::end(kTargets) - 1;
  while (!runs_here(*target) || !is_fast_here(*target)) --target;  // `scalar` runs anywhere
  std::vector<std::string_view> names;
  for (; target != nullptr; target = find_listed(target->substitute)) names.push_back(target->name);
  return names;
}

}  // namespace qkv::kernels
