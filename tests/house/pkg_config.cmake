# Each library by its .pc file alone, as a makefile would use it.
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
file(MAKE_DIRECTORY ${FOLDER})
foreach(package IN ITEMS qkv qkv-files qkv-hub qkv-picture qkv-learn qkv-explain qkv-api)
  string(REGEX REPLACE "^qkv-" "" program ${package})
  string(REGEX REPLACE "^qkv$" "engine" program ${program})
  execute_process(COMMAND ${pkg_config} --cflags --libs ${package}
                  OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(options UNIX_COMMAND "${options}")
  execute_process(COMMAND ${COMPILER} -std=c++20 ${FLAGS} ${SOURCE}/tests/house/consumer/${program}.cc ${options}
                          -o ${FOLDER}/${program} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${FOLDER}/${program} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
