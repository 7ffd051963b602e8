// The version and build of qkv, and what the machine offers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// How the library was built. The texts live as long as the program; `commit` is empty if it is unknown.
struct BuildInfo {
  std::string_view version;     // "0.2.0"
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view flags;       // as CMake passed them for this build type
  std::string_view build_type;  // "Release"
  std::string_view commit;      // of the source tree when it was built
  std::string_view full;        // "0.2.0" of a release, "0.2.0+cc1ed3a5bd5f" of another commit
  std::string_view targets;     // CPU targets that it holds beside "reference": "avx512 avx512vnni avx512bf16"
  std::string_view left_out;    // those of this kind of processor that it does not hold (QKV_TARGETS=native)
};
[[nodiscard]] const BuildInfo& build_info() noexcept;

/// The processor's model name, e.g. "Intel(R) Xeon(R) Platinum 8481C", or "unknown".
[[nodiscard]] std::string cpu_model();

/// The instruction-set extensions that the machine offers and that attention kernels can use, e.g. "avx2", "fma".
[[nodiscard]] std::vector<std::string> cpu_instructions();

}  // namespace qkv
