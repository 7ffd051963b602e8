# ccache where there is one. It must be told that no file depends on a macro that a precompiled header leaves, and GCC
# that its preprocessor is to keep to the precompiled header.
find_program(QKV_CCACHE ccache DOC "Compiler cache, used where there is one")
mark_as_advanced(QKV_CCACHE)
if(QKV_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${QKV_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
