# Headers that most files read are parsed once for many targets. Every file still includes what it names: the clang
# presets compile without this.

# qkv_precompile(<target> <group> <headers> …): the first target of a group parses the headers, the others take its
# result. They must be compiled with the same flags, and position-independent in the same way: libraries or executables.
function(qkv_precompile target group)
  get_property(first GLOBAL PROPERTY qkv_precompiled_${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY qkv_precompiled_${group} ${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory>
      <optional> <span> <string> <string_view> <utility> <vector> ${ARGN})
  endif()
  # GCC 12 forgets that what it inlines from a precompiled header is the standard library's, and sees copies of
  # std::string out of bounds that are none (as in its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread)
  endif()
endfunction()
