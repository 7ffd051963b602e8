# cmake -D SOURCE=… -D FOLDER=… -D GENERATOR=… -D COMPILER=… -D TARGETS=… [-D TOOLCHAIN=… -D EMULATOR=…]
# -D fmt_DIR=… -D utf8cpp_DIR=… -P build.cmake: builds the engine and exact_digits with another compiler and compares
# what the program prints. FOLDER is kept, so that a second run builds what changed.
find_program(compiler ${COMPILER})
if(EMULATOR)
  find_program(emulator ${EMULATOR})
endif()
if(NOT compiler OR (EMULATOR AND NOT emulator))
  message("skipped: no ${COMPILER} ${EMULATOR} here (scripts/install-packages test)")
  return()
endif()
set(choice -D CMAKE_CXX_COMPILER=${compiler})
if(TOOLCHAIN)
  set(choice --toolchain ${TOOLCHAIN})
endif()
# The libraries that are headers alone are the same for every processor.
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} ${choice} -D CMAKE_BUILD_TYPE=Release
          -D QKV_ENGINE_ONLY=ON -D QKV_TESTS=ON -D QKV_TARGETS=${TARGETS} -D fmt_DIR=${fmt_DIR} -D utf8cpp_DIR=${utf8cpp_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target exact_digits COMMAND_ERROR_IS_FATAL ANY)
set(PROGRAM ${FOLDER}/tests/exact/exact_digits)
if(EMULATOR)
  set(PROGRAM ${emulator} -L /usr/aarch64-linux-gnu ${PROGRAM})
endif()
include(${CMAKE_CURRENT_LIST_DIR}/compare.cmake)
