// Prints, as a list of CMake, the targets that a build for this machine alone holds. Run by QkvCpuTargets.cmake.
#include <cstdio>

#include "kernels/target_list.h"

int main() {
  const char* separator = "";
  for (const std::string_view name : qkv::kernels::native_targets()) {
    std::printf("%s%.*s", separator, static_cast<int>(name.size()), name.data());
    separator = ";";
  }
  return 0;
}
