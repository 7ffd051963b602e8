# cmake -D STEP=… -D FOLDER=… … -P aarch64.cmake: the engine on 64-bit Arm, under qemu. STEP build (-D SOURCE=… -D GENERATOR=…
# -D fmt_DIR=… -D utf8cpp_DIR=…) builds test_kernels, test_cases, test_fuzz and exact_digits in FOLDER, which is kept, so that
# a second run builds what changed; symbols looks for functions that a set of instructions shares; kernels, cases and fuzz run
# what of them differs between processors.
cmake_minimum_required(VERSION 3.25)
find_program(COMPILER aarch64-linux-gnu-g++)
find_program(QEMU qemu-aarch64)
find_path(GOOGLETEST CMakeLists.txt PATHS /usr/src/googletest NO_DEFAULT_PATH)
foreach(need IN ITEMS COMPILER QEMU GOOGLETEST)
  if(NOT ${need})
    message("skipped: no aarch64-linux-gnu-g++, qemu-aarch64 or /usr/src/googletest here (scripts/install-packages test)")
    return()
  endif()
endforeach()

# run(<program's folder> <words> …)
function(run room)
  execute_process(COMMAND ${QEMU} -L /usr/aarch64-linux-gnu ${FOLDER}/tests/${room}/test_${room} --gtest_brief=1 ${ARGN}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(STEP STREQUAL "build")
  # At -O1, since GCC takes three times as long at -O3 for the quantised products alone: the instructions that are meant are
  # there, and what GCC does to loops is tested on this processor. Libraries of headers are the same for every processor.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} --toolchain ${SOURCE}/cmake/aarch64.cmake
            -D CMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG -Wno-maybe-uninitialized"
            -D QKV_ENGINE_ONLY=ON -D QKV_TESTS=ON -D fmt_DIR=${fmt_DIR} -D utf8cpp_DIR=${utf8cpp_DIR}
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target test_kernels test_cases test_fuzz exact_digits
                  COMMAND_ERROR_IS_FATAL ANY)
elseif(STEP STREQUAL "symbols")
  find_program(NM aarch64-linux-gnu-nm REQUIRED)
  find_program(OBJDUMP aarch64-linux-gnu-objdump REQUIRED)
  file(GLOB OBJECTS ${FOLDER}/src/CMakeFiles/qkv.dir/kernels/cpu/target_neon*.cc.o
       ${FOLDER}/src/CMakeFiles/qkv.dir/kernels/product/quantised_neon*.cc.o)
  set(BUILD_TYPE Release)
  set(TARGETS neondot neoni8mm neonbf16)
  include(${CMAKE_CURRENT_LIST_DIR}/own_symbols.cmake)
elseif(STEP STREQUAL "kernels")
  # The loops for every processor and the sharing of work between threads are as on this one.
  run(kernels --gtest_filter=-*/baseline*:*OnAnyNumberOfThreads*)
elseif(STEP STREQUAL "cases")
  # Rows of bf16, where the targets differ: forward at both widths, and one width for each table of gradients.
  run(cases --gtest_filter=*neon*:Cases/Table.*/bf16_D7:Cases/Table.*/bf16_D64:Cases/GradientTable.IsAsNearTheReference*/bf16_D64:Cases/GradientTable.IsAsNearWithFew*/bf16_D7)
elseif(STEP STREQUAL "fuzz")
  set(ENV{QKV_FUZZ_CALLS} 150)
  run(fuzz)
endif()
