# cmake -D SOURCE=… -D FOLDER=… -D GENERATOR=… -D COMPILER=… -D PROGRAM=<cmake/native_targets.cc> -P native_targets.cmake:
# QKV_TARGETS=native, configured, holds what the list chooses on this machine, and leaves out the others.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE wanted COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
          -D QKV_ENGINE_ONLY=ON -D QKV_CLI=OFF -D QKV_TESTS=OFF -D QKV_TARGETS=native
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${FOLDER}/generated/kernels/built_targets.h uses REGEX "QKV_BUILT_TARGETS")
string(REGEX MATCHALL "use\\([a-z0-9]+\\)" held "${uses}")
list(TRANSFORM wanted REPLACE "(.+)" "use(\\1)")
list(SORT wanted)
list(SORT held)
if(NOT held STREQUAL wanted)
  message(FATAL_ERROR "expected ${wanted}, got ${held}")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -D QKV_TARGETS=fastest
  OUTPUT_QUIET ERROR_VARIABLE fault RESULT_VARIABLE code)
if(code EQUAL 0 OR NOT fault MATCHES "QKV_TARGETS: expected all or native, got \"fastest\"")
  message(FATAL_ERROR "QKV_TARGETS=fastest ended with ${code}: ${fault}")
endif()
