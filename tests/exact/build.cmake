# cmake -D SOURCE=… -D FOLDER=… -D GENERATOR=… -D COMPILER=… -D fmt_DIR=… -D utf8cpp_DIR=… -P build.cmake: builds the engine
# and exact_digits with another compiler, and compares what the program prints. FOLDER is kept, so that a second run builds
# what changed. At -O1: no level may change a digit, and digits of this build are of -O3.
find_program(compiler ${COMPILER})
if(NOT compiler)
  message("skipped: no ${COMPILER} here (scripts/install-packages sanitize)")
  return()
endif()
set(flags "-O1 -DNDEBUG")
if(NOT COMPILER MATCHES "clang")
  string(APPEND flags " -Wno-maybe-uninitialized")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${compiler}
          -D CMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=${flags}"
          -D QKV_ENGINE_ONLY=ON -D QKV_TESTS=ON -D QKV_TARGETS=native -D fmt_DIR=${fmt_DIR} -D utf8cpp_DIR=${utf8cpp_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${FOLDER} --target exact_digits COMMAND_ERROR_IS_FATAL ANY)
set(PROGRAM ${FOLDER}/tests/exact/exact_digits)
include(${CMAKE_CURRENT_LIST_DIR}/compare.cmake)
