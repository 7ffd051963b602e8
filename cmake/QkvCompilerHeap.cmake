# GCC looks for garbage whenever its heap has doubled, from 128 MB on: a tenth of its time. From 512 MB on, where each of the
# compilers that run at once has its gigabyte and a half.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR for_each "${megabytes} / (${cores} + 2)")  # ninja runs two more than there are cores
  if(for_each GREATER 1500)
    add_compile_options($<$<CONFIG:Release>:--param=ggc-min-heapsize=524288>)
  endif()
endif()
