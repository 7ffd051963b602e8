# ccache where there is one; scripts/cached-compiler says for what. GCC must be told that its preprocessor is to keep to the
# precompiled header.
find_program(QKV_CCACHE ccache DOC "Compiler cache, used where there is one")
mark_as_advanced(QKV_CCACHE)
if(QKV_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/cached-compiler ${QKV_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
