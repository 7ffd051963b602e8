# cmake -D NM=… -D OBJDUMP=… -D "OBJECTS=…" -D "TARGETS=…" -D SANITIZE=… -D BUILD_TYPE=… -P own_symbols.cmake: an object compiled for one
# instruction set, <name>_<set>.cc.o, may share no function with others. The linker keeps one copy of an inline function,
# and one compiled for AVX-512 would stop the program on a machine without it. So what such an object instantiates bears
# the namespace of its set. Nor may it initialise anything when a program starts: that would run its instructions on every
# machine.
if(SANITIZE OR NOT BUILD_TYPE MATCHES "Release|RelWithDebInfo")
  message("skipped: without full optimisation, or with sanitizers, inline functions stay functions")
  return()
endif()
cmake_policy(SET CMP0057 NEW)  # IN_LIST
set(faults "")
set(seen "")
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "([a-z]+_([a-z0-9]+))\\.cc\\.o(bj)?$" OR NOT CMAKE_MATCH_2 IN_LIST TARGETS)
    continue()
  endif()
  set(file ${CMAKE_MATCH_1})
  # amxf32 is of the namespace amx.
  string(REGEX REPLACE "f32$" "" namespace ${CMAKE_MATCH_2})
  string(APPEND namespace ::)
  list(APPEND seen ${file})
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  foreach(line IN LISTS lines)
    # Weak data (V) holds no instructions.
    if(line MATCHES "^[0-9a-f]+ W " AND NOT line MATCHES "[^a-z0-9_]${namespace}")
      string(APPEND faults "\n  ${file}.cc: ${line}")
    endif()
  endforeach()
  execute_process(COMMAND ${OBJDUMP} -h ${object} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(sections MATCHES "[.](init_array|ctors)")
    string(APPEND faults "\n  ${file}.cc: initialised when the program starts; make it constinit")
  endif()
endforeach()
if(NOT seen)
  message(FATAL_ERROR "no object of an instruction set among: ${OBJECTS}")
endif()
if(faults)
  message(FATAL_ERROR "Shared with other objects (make it always_inline or move it), or run by all programs:${faults}")
endif()
message("nothing shared: ${seen}")
