# cmake -D SOURCE=… -D FOLDER=… -D GENERATOR=… -D fmt_DIR=… -D utf8cpp_DIR=… -P aarch64.cmake: builds the engine with
# test_kernels, test_cases and test_fuzz for 64-bit Arm, runs them under qemu, and looks for functions that a set of
# instructions shares. FOLDER is kept, so that a second run builds what changed.
find_program(COMPILER aarch64-linux-gnu-g++)
find_program(QEMU qemu-aarch64)
find_path(GOOGLETEST CMakeLists.txt PATHS /usr/src/googletest NO_DEFAULT_PATH)
foreach(need IN ITEMS COMPILER QEMU GOOGLETEST)
  if(NOT ${need})
    message("skipped: no aarch64-linux-gnu-g++, qemu-aarch64 or /usr/src/googletest here (scripts/install-packages test)")
    return()
  endif()
endforeach()
# The libraries that are headers alone are the same for every processor.
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} --toolchain ${SOURCE}/cmake/aarch64.cmake
          -D CMAKE_BUILD_TYPE=Release -D QKV_ENGINE_ONLY=ON -D QKV_TESTS=ON -D fmt_DIR=${fmt_DIR}
          -D utf8cpp_DIR=${utf8cpp_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target test_kernels test_cases test_fuzz
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${QEMU} -L /usr/aarch64-linux-gnu ${FOLDER}/tests/kernels/test_kernels --gtest_brief=1
                COMMAND_ERROR_IS_FATAL ANY)
# Under qemu all of the table takes many minutes: rows of bf16, which is where the targets differ, and what is for the
# targets of this processor alone.
execute_process(COMMAND ${QEMU} -L /usr/aarch64-linux-gnu ${FOLDER}/tests/cases/test_cases --gtest_brief=1
                        --gtest_filter=*neon*:Cases/*Table.*/bf16_D7:Cases/*Table.*/bf16_D64
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env QKV_FUZZ_CALLS=300 ${QEMU} -L /usr/aarch64-linux-gnu
                        ${FOLDER}/tests/fuzz/test_fuzz --gtest_brief=1 COMMAND_ERROR_IS_FATAL ANY)
find_program(NM aarch64-linux-gnu-nm REQUIRED)
find_program(OBJDUMP aarch64-linux-gnu-objdump REQUIRED)
file(GLOB OBJECTS ${FOLDER}/src/CMakeFiles/qkv.dir/kernels/cpu/target_neon*.cc.o
     ${FOLDER}/src/CMakeFiles/qkv.dir/kernels/product/quantised_neon*.cc.o)
set(BUILD_TYPE Release)
set(TARGETS neondot neonbf16)
include(${CMAKE_CURRENT_LIST_DIR}/own_symbols.cmake)
