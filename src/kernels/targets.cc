#include "kernels/targets.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/processor.h"
#include "kernels/cpu/forward.h"
#include "kernels/cpu/tile_types.h"
#include "qkv/error.h"
#include "qkv/info.h"

namespace qkv {
namespace {

struct Known {
  std::string_view name;
  std::vector<std::string> needs;
  bool pays = true;              // else it runs only where it is asked for
  bool (*own)(DType) = nullptr;  // what it multiplies itself, where that is not all
  std::string_view beside = {};  // who does the rest
};

// Where only the type of the keys matters.
bool is_never(DType /*dtype*/) { return false; }

bool is_bf16(DType dtype) { return dtype == DType::bf16; }

// f32 as parts of bf16.
bool tiles_multiply_parts(DType dtype) { return dtype == DType::f32 || kernels::cpu::tiles_multiply(dtype); }

// AMD's processors multiply a vector of pairs as fast as one of floats; Intel's take four times as long.
bool multiplies_pairs_fast() { return core::is_amd(); }

constexpr std::string_view kReference = "reference";

#if defined(QKV_EMULATE_TILES)
constexpr bool kEmulatesTiles = true;
#else
constexpr bool kEmulatesTiles = false;
#endif

std::vector<std::string> needs_of_amx() {
  std::vector<std::string> needs = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16"};
  if (!kEmulatesTiles) needs.insert(needs.end(), {"amx-tile", "amx-bf16", "amx-int8"});
  return needs;
}

std::string_view note_on(std::string_view name) {
  return kEmulatesTiles && name.starts_with("amx") ? " (tile unit emulated)" : "";
}

// Slowest first.
std::vector<Known> list_targets() {
  return {
      {kReference, {}},
      {"scalar", {}},
      {"simd128", {"simd128"}},
      {"neon", {"neon"}},
      {"neonbf16", {"neon", "bf16"}, true, is_bf16, "neon"},
      {"avx2", {"avx2", "fma", "f16c"}},
      {"avx512", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}},
      {"avx512vnni", {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni"}, true, is_never, "avx512"},
      {"avx512bf16",
       {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni", "avx512bf16"},
       multiplies_pairs_fast(),
       is_bf16,
       "avx512"},
      {"amx", needs_of_amx(), true, kernels::cpu::tiles_multiply, "avx512"},
      {"amxf32", needs_of_amx(), false, tiles_multiply_parts, "avx512"},  // not yet measured on a tile unit
  };
}

const std::vector<Known>& known_targets() {
  static const std::vector<Known> kKnown = list_targets();
  return kKnown;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<CpuTarget> survey() {
  const std::vector<std::string> offered = cpu_instructions();
  std::vector<CpuTarget> targets;
  for (const Known& known : known_targets()) {
    const bool runs = std::ranges::all_of(
        known.needs, [&](const std::string& need) { return std::ranges::find(offered, need) != offered.end(); });
    const bool compiled = known.name == kReference || kernels::cpu::find_target(known.name) != nullptr;
    targets.push_back({.name = std::string(known.name),
                       .instructions = joined(known.needs).append(note_on(known.name)),
                       .compiled = compiled,
                       .runs_here = runs,
                       .chosen = false});
  }
  return targets;
}

// The machine and the build do not change while the program runs.
const std::vector<CpuTarget>& surveyed() {
  static const std::vector<CpuTarget> kTargets = survey();
  return kTargets;
}

bool usable(const CpuTarget& target) { return target.compiled && target.runs_here; }

std::string usable_names() {
  std::vector<std::string> names;
  for (const CpuTarget& target : surveyed()) {
    if (usable(target)) names.push_back(target.name);
  }
  return joined(names);
}

std::size_t place_of(std::string_view function, std::string_view argument, std::string_view wanted) {
  const auto found = std::ranges::find(surveyed(), wanted, &CpuTarget::name);
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(function, argument,
                          "a target that this build holds and this machine runs (" + usable_names() + ")",
                          "`" + std::string(wanted) + "`, which " + reason);
  };
  if (found == surveyed().end()) refuse("qkv does not know");
  if (!found->compiled) refuse("this build does not hold");
  if (!found->runs_here) refuse("needs " + found->instructions);
  return static_cast<std::size_t>(found - surveyed().begin());
}

std::size_t find_chosen_place() {
  const char* wanted = std::getenv("QKV_FORCE_TARGET");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  if (wanted != nullptr && *wanted != '\0') return place_of("cpu_targets", "QKV_FORCE_TARGET", wanted);
  // `reference` is always usable, so one is found.
  const std::vector<Known>& known = known_targets();
  std::size_t place = surveyed().size() - 1;
  while (!usable(surveyed()[place]) || !known[place].pays) --place;
  return place;
}

// Looked for once: the environment has many variables.
std::size_t chosen_place() {
  static const std::size_t kPlace = find_chosen_place();
  return kPlace;
}

}  // namespace

std::vector<CpuTarget> cpu_targets() {
  std::vector<CpuTarget> targets = surveyed();
  targets[chosen_place()].chosen = true;
  return targets;
}

std::string_view kernels::target_for(std::string_view function, DType dtype, std::string_view wanted) {
  const std::size_t place = wanted.empty() ? chosen_place() : place_of(function, "target", wanted);
  return dtype == DType::f64 ? surveyed().front().name : surveyed()[place].name;
}

std::string_view kernels::serving_target(std::string_view target, DType dtype) {
  const auto known = std::ranges::find(known_targets(), target, &Known::name);
  if (known == known_targets().end()) return target;
  return known->own != nullptr && !known->own(dtype) ? known->beside : known->name;
}

bool kernels::has_avx512(std::string_view target) { return target.starts_with("avx512") || target.starts_with("amx"); }

}  // namespace qkv
