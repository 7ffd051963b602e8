#include <algorithm>
#include <cstdlib>

#include "qkv/error.h"
#include "qkv/info.h"

namespace qkv {
namespace {

struct Known {
  std::string_view name;
  std::vector<std::string> needs;
  bool compiled;
};

// Slowest first. A target becomes `compiled` with the kernels that it names.
std::vector<Known> known_targets() {
  return {
      {"reference", {}, true},
      {"scalar", {}, false},
      {"neon", {"neon"}, false},
      {"avx2", {"avx2", "fma", "f16c"}, false},
      {"avx512", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, false},
      {"amx", {"avx512f", "avx512bw", "avx512dq", "avx512vl", "amx-tile", "amx-bf16"}, false},
  };
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
    targets.push_back({.name = std::string(known.name),
                       .instructions = joined(known.needs),
                       .compiled = known.compiled,
                       .runs_here = runs,
                       .chosen = false});
  }
  return targets;
}

bool usable(const CpuTarget& target) { return target.compiled && target.runs_here; }

std::string usable_names(const std::vector<CpuTarget>& targets) {
  std::vector<std::string> names;
  for (const CpuTarget& target : targets) {
    if (usable(target)) names.push_back(target.name);
  }
  return joined(names);
}

CpuTarget& forced(std::vector<CpuTarget>& targets, const std::string& wanted) {
  const auto found = std::ranges::find(targets, wanted, &CpuTarget::name);
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument("cpu_targets", "QKV_FORCE_TARGET",
                          "a target that this build holds and this machine runs (" + usable_names(targets) + ")",
                          "`" + wanted + "`, which " + reason);
  };
  if (found == targets.end()) refuse("qkv does not know");
  if (!found->compiled) refuse("this build does not hold");
  if (!found->runs_here) refuse("needs " + found->instructions);
  return *found;
}

}  // namespace

std::vector<CpuTarget> cpu_targets() {
  std::vector<CpuTarget> targets = survey();
  const char* wanted = std::getenv("QKV_FORCE_TARGET");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  if (wanted != nullptr && *wanted != '\0') {
    forced(targets, wanted).chosen = true;
    return targets;
  }
  // `reference` is always usable, so there is a last one.
  std::find_if(targets.rbegin(), targets.rend(), usable)->chosen = true;
  return targets;
}

}  // namespace qkv
