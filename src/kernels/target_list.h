// The list of targets: what each needs of the processor, which types it serves and who serves the others.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "qkv/dtype.h"

namespace qkv::kernels {

struct ListedTarget {
  std::string_view name;
  std::string_view needs;            // words of cpu_instructions()
  std::string_view line;             // what it does, for `qkv info` and the table of docs/semantics.md
  bool (*serves)(DType) = nullptr;   // types of queries that it multiplies itself; null: all
  std::string_view substitute = {};  // the target that serves the others
  bool (*is_fast_here)() = nullptr;  // else it runs only where it is asked for; null: wherever it runs
};

/// Every target that qkv knows, of any processor, slowest first.
[[nodiscard]] std::span<const ListedTarget> target_list();

/// The entry of this name, or null.
[[nodiscard]] const ListedTarget* find_listed(std::string_view name);

/// True if the machine offers what the target needs. The machine is queried once.
[[nodiscard]] bool runs_here(const ListedTarget& target);

/// True if the target is fast on this machine, where it runs.
[[nodiscard]] bool is_fast_here(const ListedTarget& target);

/// What a build for this machine alone holds: the last of the list that runs and is fast here, then its substitutes, to
/// which it leaves calls.
[[nodiscard]] std::vector<std::string_view> native_targets();

}  // namespace qkv::kernels
