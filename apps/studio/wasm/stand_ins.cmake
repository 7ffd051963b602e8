# What a page cannot have (files, threads, images, libraries of the machine) is left out, and what stands in for it is in
# stand_ins/: it says that it is not there.

# qkv_stand_in(<target> [OUT <sources> …] [IN <sources> …])
function(qkv_stand_in target)
  cmake_parse_arguments(arg "" "" "OUT;IN" ${ARGN})
  get_target_property(sources ${target} SOURCES)
  foreach(out IN LISTS arg_OUT)
    set(path ${PROJECT_SOURCE_DIR}/src/${out})
    if(NOT path IN_LIST sources)
      message(FATAL_ERROR "${target} has no source ${out} to leave out")
    endif()
    list(REMOVE_ITEM sources ${path})
  endforeach()
  list(TRANSFORM arg_IN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/stand_ins/)
  set_property(TARGET ${target} PROPERTY SOURCES ${sources} ${arg_IN})
endfunction()
