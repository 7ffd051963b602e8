# For `pip install .`, which shows what is said here only where the build fails: all that is missing, and how it is installed,
# before CMake stumbles over the first of it.
find_program(dpkg_query dpkg-query NO_CACHE)
if(dpkg_query)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/install-packages --dry-run build
                  RESULT_VARIABLE status ERROR_VARIABLE missing)
  if(NOT status EQUAL 0)
    message(WARNING "${missing}")
  endif()
endif()
