# cmake -D SOURCE=… -D HEADER=… -P commit.cmake: writes the commit of the source tree into a header, whose time changes only
# if the commit did. Empty where the tree has no repository of its own, as a source archive.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "// Made by cmake/commit.cmake.
#pragma once
#define QKV_COMMIT \"${commit}\"
")
