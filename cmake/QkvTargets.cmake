# How every target of ours is compiled, so that no CMakeLists repeats it.

include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# No compiler may fuse a product with a sum unless the code says so: f64 has the same digits on every machine
# (docs/decisions/0010-exact-f64.md).
function(qkv_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
  # Inside another project a newer compiler's warnings are no reason to stop.
  if(qkv_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # There, a size is half as long as the int64_t that it comes from; where it may be too large, the code says so.
  if(QKV_WEB)
    target_compile_options(${target} PRIVATE -Wno-shorten-64-to-32)
  endif()
  # GCC 12 sees an overlap in `"text" + std::string` where there is none (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(QKV_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${QKV_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${QKV_SANITIZE})
  endif()
endfunction()

# qkv_find_loop_options(<variable>): for the loops of autograd (src/kernels/vectorised.h). GCC vectorises a loop with a
# comparison of floats or a root only where nobody looks at exceptions and errno. Products and sums of f32 are fused where
# the chosen vectors can; if what is compiled for any machine could too, f64 would be fused with them.
function(qkv_find_loop_options variable)
  check_cxx_source_compiles("
#if !defined(__x86_64__) || defined(__FMA__) || defined(__AVX512F__)
#error every machine that this is compiled for fuses
#endif
int main() {}" QKV_BASELINE_FUSES_NOTHING)
  set(options -fno-trapping-math -fno-math-errno)
  if(QKV_BASELINE_FUSES_NOTHING)
    list(APPEND options -ffp-contract=fast)
  endif()
  set(${variable} ${options} PARENT_SCOPE)
endfunction()

# qkv_loop_options(<target> <sources>): compiles the sources as such loops.
function(qkv_loop_options target)
  qkv_find_loop_options(options)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${options})
  # A precompiled header knows whether math sets errno.
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  # Clang need not say where it could not vectorise a loop that may be (QKV_SAME_INDEX).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
endfunction()

# qkv_quick_to_compile(<target> [WITHOUT_LOOPS]): for what hands its work to other libraries. At -O3 a file of the command takes
# twice as long to compile as at -O1, which takes a fifth longer than -Og: for what has no loop over numbers or letters
# either. Below -O2, GCC sees variables unset that an std::optional guards.
set(qkv_quick_options $<$<CONFIG:Release>:-O1> $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
function(qkv_quick_to_compile target)
  cmake_parse_arguments(arg "WITHOUT_LOOPS" "" "" ${ARGN})
  target_compile_options(${target} PRIVATE ${qkv_quick_options})
  if(arg_WITHOUT_LOOPS)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  endif()
endfunction()

# qkv_unoptimised(<target>): for what runs for a moment, or hands all that takes long to a library.
function(qkv_unoptimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# qkv_quick_to_link(<program>): for what is not installed. gold takes half as long as ld.
function(qkv_quick_to_link program)
  check_linker_flag(CXX -fuse-ld=gold QKV_HAS_GOLD)
  if(QKV_HAS_GOLD AND NOT QKV_SANITIZE)
    target_link_options(${program} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

# qkv_room(<target> [BUT <files> …]): all sources of this folder and of those below it are the target's, but for some. The
# engine of the pages looks for new ones when it is configured, as `make web` does: tests/web asks ninja whether it is current.
function(qkv_room target)
  cmake_parse_arguments(arg "" "" "BUT" ${ARGN})
  if(NOT QKV_WEB)
    set(again CONFIGURE_DEPENDS)
  endif()
  file(GLOB_RECURSE sources ${again} RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc)
  list(REMOVE_ITEM sources "" ${arg_BUT})
  target_sources(${target} PRIVATE ${sources})
endfunction()

# qkv_library(<target> <exported name> [PRECOMPILED <group> <headers> …]): a library whose rooms add their sources (qkv_room).
function(qkv_library target name)
  add_library(${target})
  add_library(qkv::${name} ALIAS ${target})
  # Below 1.0 a minor version may change what a program was compiled against.
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  qkv_compile_options(${target})
  qkv_use_fmt(${target})
  if(ARGN)
    list(POP_FRONT ARGN)
    qkv_precompile(${target} ${ARGN})
  else()
    qkv_precompile(${target} libraries <fmt/format.h>)
  endif()
endfunction()

# qkv_quick_part(<library> <part>): an object library in <library> for those of its sources that are quick to compile, with
# what the library includes, links to and defines.
function(qkv_quick_part library part)
  add_library(${part} OBJECT)
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${part}>)
  foreach(what IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS)
    set_property(TARGET ${part} PROPERTY ${what} $<TARGET_PROPERTY:${library},${what}>)
  endforeach()
  target_compile_features(${part} PRIVATE cxx_std_20)
  qkv_compile_options(${part})
  qkv_use_fmt(${part})
  qkv_precompile(${part} libraries <fmt/format.h>)
  qkv_quick_to_compile(${part})
endfunction()

# qkv_suites(<room> <long suites> …): the suites of test_<room>, as tests of ctest. Those that take long start first.
function(qkv_suites room)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/test_${room}_suites.cmake)
  file(GENERATE OUTPUT ${script} CONTENT
"set(program \"$<TARGET_FILE:test_${room}>\")
set(room ${room})
set(long \"${ARGN}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/QkvSuites.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# qkv_test(<room> [COMPUTES] SOURCES … [LIBS …] [LONG …]): one executable test_<room>; every test in it carries the room as
# its label. COMPUTES is for tests with loops of their own; others are not optimised, for which GCC takes a third less.
# LONG: suites that take more than some seconds.
function(qkv_test room)
  cmake_parse_arguments(arg "COMPUTES" "" "SOURCES;LIBS;LONG" ${ARGN})
  if(NOT TARGET GTest::gmock_main)
    find_package(GTest REQUIRED)
  endif()
  add_executable(test_${room} ${arg_SOURCES})
  target_include_directories(test_${room} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${room} PRIVATE qkv::qkv ${arg_LIBS} GTest::gmock_main)
  target_compile_definitions(test_${room} PRIVATE QKV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  QKV_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(CMAKE_CROSSCOMPILING)
    target_compile_definitions(test_${room} PRIVATE QKV_EMULATED)
  endif()
  qkv_compile_options(test_${room})
  qkv_quick_to_link(test_${room})
  if(arg_COMPUTES)
    qkv_quick_to_compile(test_${room})
    qkv_precompile(test_${room} computing_tests <fstream> <sstream> <gmock/gmock.h>)
  else()
    qkv_unoptimised(test_${room})
    qkv_precompile(test_${room} tests <fstream> <sstream> <gmock/gmock.h>)
  endif()
  # As large as memory allows: what tests instantiate, most of their cost, they have in common.
  qkv_batches(test_${room} SIZE 24)
  qkv_suites(${room} ${arg_LONG})
endfunction()

# qkv_fuzz(<name> SOURCES … [LIBS …]): one executable fuzz_<name> around an LLVMFuzzerTestOneInput, with its seeds in
# tests/fuzz/corpus/<name>/. The fuzz preset links libFuzzer (scripts/fuzz runs it); any other build links a main that
# replays the seeds once, as the test fuzz/<name>.
function(qkv_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  add_executable(fuzz_${name} ${arg_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(fuzz_${name} PRIVATE qkv::qkv ${arg_LIBS})
  qkv_compile_options(fuzz_${name})
  if(QKV_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    qkv_unoptimised(fuzz_${name})
    qkv_quick_to_link(fuzz_${name})
    if(NOT TARGET fuzz_replay)
      add_library(fuzz_replay OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc)
      qkv_compile_options(fuzz_replay)
      qkv_unoptimised(fuzz_replay)
    endif()
    target_sources(fuzz_${name} PRIVATE $<TARGET_OBJECTS:fuzz_replay>)
    add_test(NAME fuzz/${name} COMMAND fuzz_${name} ${corpus})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
endfunction()
