# qkv as a part of another project (subproject/), by the newest compiler that the machine has: all is configured, a few files are
# compiled.
set(build ${FOLDER}/build)
file(REMOVE_RECURSE ${FOLDER})
find_program(newest NAMES clang++-20 clang++-19 g++-14 g++-13 clang++-18)
if(newest)
  set(COMPILER ${newest})
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/house/subproject -B ${build} -G Ninja -D QKV=${SOURCE}
          -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# Nothing of qkv is installed.
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${FOLDER}/prefix
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS ${FOLDER}/prefix)
  message(FATAL_ERROR "qkv installs files that nobody asked for")
endif()

file(READ ${build}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
set(found "")
foreach(n RANGE ${last})
  string(JSON file GET "${commands}" ${n} file)
  string(JSON command GET "${commands}" ${n} command)
  if(file MATCHES "/tests/house/subproject/")
    continue()
  elseif(command MATCHES "-Werror" OR NOT command MATCHES "-Wundef")
    message(FATAL_ERROR "${file} is compiled with other warnings than the project around says: ${command}")
  endif()
  if(file MATCHES "/src/(core/error|core/build_info|mask/parse_mask|kernels/target_list|attention/heads)\\.cc$")
    string(REGEX MATCH " -o ([^ ]+)" object "${command}")
    list(APPEND found ${CMAKE_MATCH_1})
  endif()
endforeach()
list(LENGTH found count)
if(NOT count EQUAL 5)
  message(FATAL_ERROR "expected five files of qkv in ${build}/compile_commands.json, got ${found}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target outer ${found} OUTPUT_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR said MATCHES "warning:")
  message(FATAL_ERROR "qkv does not build without warnings inside another project:\n${said}")
endif()
