# cmake -D SOURCE=… -D HEADER=… -D VERSION=… -P commit.cmake: writes the commit of the source tree into a header, whose time
# changes only if the commit did, and "+COMMIT" where it is not the one that is tagged as this version. Both are empty where
# the tree has no repository of its own, as a source archive.
set(commit "")
set(beyond "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} tag --points-at HEAD
                  OUTPUT_VARIABLE tags OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit AND NOT "\n${tags}\n" MATCHES "\nv?${VERSION}\n")
    set(beyond "+${commit}")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "// Made by cmake/commit.cmake.
#pragma once
#define QKV_COMMIT \"${commit}\"
#define QKV_BEYOND \"${beyond}\"
")
