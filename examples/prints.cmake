# cmake -D COMMAND="PROGRAM;ARGUMENTS" -D EXPECTED=FILE -P prints.cmake: what the command prints is what FILE holds.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE got RESULT_VARIABLE result)
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0 OR NOT got STREQUAL expected)
  message(FATAL_ERROR "exit status ${result}; expected\n${expected}\ngot\n${got}")
endif()
