# cmake -D PROJECT=… -D FOLDER=… -D PREFIX=… [-D EXTRACT=…] … -P consume.cmake: configures, builds and tests an outside
# project against the qkv installed in PREFIX. EXTRACT: a command that writes the project's code blocks first. ONLY: these of
# its examples.
set(build ${FOLDER}/build)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
if(EXTRACT)
  execute_process(COMMAND ${EXTRACT} COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${PROJECT} -B ${build} -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${PREFIX}
          -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_FLAGS=${FLAGS}
          -D BLOCKS=${FOLDER}/blocks
  COMMAND_ERROR_IS_FATAL ANY)
set(targets "")
set(tests "")
if(ONLY)
  list(TRANSFORM ONLY PREPEND example_ OUTPUT_VARIABLE names)
  set(targets --target ${names})
  list(JOIN ONLY "|" names)
  set(tests --no-tests=error -R "/(${names})$")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} ${targets} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure ${tests} COMMAND_ERROR_IS_FATAL ANY)
