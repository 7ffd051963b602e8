#include "kernels/targets.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/task.h"
#include "kernels/product/quantised_loops.h"
#include "kernels/target_list.h"
#include "kernels/vector_loops.h"
#include "qkv/error.h"
#include "qkv/targets.h"

namespace qkv {
namespace {

#if defined(QKV_EMULATE_TILES)
constexpr bool kEmulatesTiles = true;
#else
constexpr bool kEmulatesTiles = false;
#endif

std::string_view note_on(std::string_view name) {
  return kEmulatesTiles && name.starts_with("amx") ? " (tile unit emulated)" : "";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<CpuTarget> survey() {
  std::vector<CpuTarget> targets;
  for (const kernels::ListedTarget& listed : kernels::target_list()) {
    targets.push_back(
        {.name = std::string(listed.name),
         .instructions = std::string(listed.needs).append(note_on(listed.name)),
         .line = std::string(listed.line),
         .substitute = std::string(listed.substitute),
         .compiled = &listed == &kernels::target_list().front() || kernels::cpu::find_target(listed.name) != nullptr,
         .runs_here = kernels::runs_here(listed),
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
                          "\"" + std::string(wanted) + "\", which " + reason);
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
  std::size_t place = surveyed().size() - 1;
  while (!usable(surveyed()[place]) || !kernels::is_fast_here(kernels::target_list()[place])) --place;
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
  const ListedTarget* listed = find_listed(target);
  while (listed->serves != nullptr && !listed->serves(dtype)) listed = find_listed(listed->substitute);
  return listed->name;
}

namespace kernels {
namespace {

// What the chosen target has of this, or the first of its substitutes that has any.
template <class Part>
const Part* chosen_part(const Part* cpu::Target::* part) {
  const ListedTarget* listed = &target_list()[chosen_place()];
  for (; listed != nullptr; listed = find_listed(listed->substitute)) {
    const cpu::Target* target = cpu::find_target(listed->name);
    if (target != nullptr && target->*part != nullptr) return target->*part;
  }
  return nullptr;
}

}  // namespace

const VectorLoops& chosen_loops() {
  static const VectorLoops* const kOwn = chosen_part(&cpu::Target::loops);
  return kOwn == nullptr ? baseline::kLoops : *kOwn;
}

const QuantisedLoops& chosen_quantised() {
  static const QuantisedLoops* const kOwn = chosen_part(&cpu::Target::quantised);
  return kOwn == nullptr ? baseline::kQuantised : *kOwn;
}

const PanelLoops* chosen_pairs() {
  static const PanelLoops* const kOwn = chosen_part(&cpu::Target::pairs);
  return kOwn;
}

const cpu::SplitLoops* chosen_split() {
  static const cpu::SplitLoops* const kSplit = chosen_part(&cpu::Target::split);
  return kSplit;
}

}  // namespace kernels

}  // namespace qkv
