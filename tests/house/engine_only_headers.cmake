# qkv/qkv.h and the headers that an engine-only installation has compile without any other.
file(REMOVE_RECURSE ${FOLDER})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
          -D QKV_ENGINE_ONLY=ON -D QKV_TESTS=OFF
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${FOLDER}/build --component headers --prefix ${FOLDER}/prefix
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS ${FOLDER}/prefix/include/qkv/files.h OR EXISTS ${FOLDER}/prefix/include/qkv/nn)
  message(FATAL_ERROR "an engine-only installation has headers of other libraries")
endif()
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${FOLDER}/prefix/include ${SOURCE}/tests/house/consumer/umbrella.cc
  COMMAND_ERROR_IS_FATAL ANY)
