# The CPU targets that this build holds (qkv_targets), those of this processor that it leaves out (qkv_targets_left_out),
# and the flags that each is compiled with (qkv_flags_<target>). src/kernels/target_list.cc says what each needs.
set(QKV_TARGETS all CACHE STRING
    "CPU targets to compile: all, or native: the one that this machine would choose and those that it leaves work to")
set_property(CACHE QKV_TARGETS PROPERTY STRINGS all native)
if(NOT QKV_TARGETS MATCHES "^(all|native)$")
  message(FATAL_ERROR "QKV_TARGETS: expected all or native, got \"${QKV_TARGETS}\"")
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(qkv_targets scalar avx2 avx2vnni avx512 avx512vnni avx512bf16 amx amxf32)
  set(qkv_flags_avx2 -mavx2 -mfma -mf16c)
  set(qkv_flags_avx2vnni ${qkv_flags_avx2} -mavxvnni)
  # The compilers' tuning prefers 256 bits unless told.
  set(qkv_flags_avx512 ${qkv_flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  # GCC 12 takes the undefined operand of its own intrinsics for a variable not set (its bug 105593).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND qkv_flags_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  set(qkv_flags_avx512vnni ${qkv_flags_avx512} -mavx512vnni)
  set(qkv_flags_avx512bf16 ${qkv_flags_avx512} -mavx512bf16)
  set(qkv_flags_amx ${qkv_flags_avx512bf16} -mamx-tile -mamx-bf16 -mamx-int8)
  set(qkv_flags_amxf32 ${qkv_flags_amx})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(qkv_targets scalar neon neondot neoni8mm neonbf16)
  set(qkv_flags_neondot -march=armv8.2-a+dotprod)
  set(qkv_flags_neoni8mm -march=armv8.2-a+dotprod+i8mm)
  set(qkv_flags_neonbf16 -march=armv8.2-a+bf16)
  # GCC would load all broadcasts of a step first and spill sums for them.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(qkv_flags_neon -fno-schedule-insns)
    foreach(target IN ITEMS neondot neoni8mm neonbf16)
      list(APPEND qkv_flags_${target} -fno-schedule-insns)
    endforeach()
  endif()
elseif(QKV_WEB)
  # Each engine has it, and a page asks for no other.
  set(qkv_targets simd128)
  set(qkv_flags_simd128 -O3)
else()
  set(qkv_targets scalar)
endif()

# qkv_find_native_targets(<variable>): what the list itself chooses on this machine.
function(qkv_find_native_targets variable)
  set(definitions "")
  if(QKV_EMULATE_TILES)
    set(definitions COMPILE_DEFINITIONS -DQKV_EMULATE_TILES)
  endif()
  set(src ${PROJECT_SOURCE_DIR}/src)
  try_run(code compiled
    SOURCES ${PROJECT_SOURCE_DIR}/cmake/native_targets.cc ${src}/core/cpu.cc ${src}/kernels/cpu/tile_types.cc
            ${src}/kernels/target_list.cc
    NO_CACHE
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${src};${PROJECT_SOURCE_DIR}/include"
    ${definitions}
    COMPILE_OUTPUT_VARIABLE messages
    RUN_OUTPUT_VARIABLE names
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  if(NOT compiled OR NOT code EQUAL 0)
    message(FATAL_ERROR "QKV_TARGETS=native: cannot find what this machine runs; use QKV_TARGETS=all\n${messages}${names}")
  endif()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

set(qkv_targets_left_out "")
# The machine that compiles is not the one that runs.
if(QKV_TARGETS STREQUAL "native" AND NOT CMAKE_CROSSCOMPILING)
  qkv_find_native_targets(native)
  # Tests force it by name. A program finds the reference where the machine has none of its targets.
  if(QKV_TESTS)
    list(APPEND native scalar)
  endif()
  set(qkv_targets_left_out ${qkv_targets})
  list(REMOVE_ITEM qkv_targets_left_out ${native})
  list(REMOVE_ITEM qkv_targets ${qkv_targets_left_out})
  message(STATUS "CPU targets: ${qkv_targets}")
endif()

# What the sources know of it: QKV_BUILT_TARGETS(use) is use(name) for each, QKV_BUILDS_<NAME> is defined for each.
set(uses "")
set(definitions "")
foreach(target IN LISTS qkv_targets)
  string(APPEND uses " use(${target})")
  string(TOUPPER ${target} upper)
  string(APPEND definitions "#define QKV_BUILDS_${upper}\n")
endforeach()
set(qkv_generated ${PROJECT_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${qkv_generated}/kernels/built_targets.h @ONLY CONTENT
"// The CPU targets that this build holds: made by cmake/QkvCpuTargets.cmake.
#pragma once
#define QKV_BUILT_TARGETS(use)@uses@
@definitions@")
