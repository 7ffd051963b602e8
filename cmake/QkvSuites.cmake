# Read by ctest with `program`, `room` and `long` set (qkv_suites, cmake/QkvTargets.cmake): each suite of a program of
# GoogleTest is a test, whose cases share a process and what they have opened. A process for each of 6,700 cases took
# minutes to start them.
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${program})
  add_test(${room}/not_built ${program})
  return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  add_test(${room}/not_listed ${program} --gtest_list_tests)
  return()
endif()
# Values of parameters may hold what a list of CMake has a meaning for.
string(REGEX REPLACE "[][;]" "_" listed "\n${listed}")
string(REGEX MATCHALL "\n[^ \n]+\\." suites "${listed}")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.+)\\.$" "\\1" suite ${suite})
  set(cost 1)
  if(suite IN_LIST long)
    set(cost 20)
  endif()
  add_test(${room}/${suite} ${program} --gtest_filter=${suite}.*)
  # A suite is skipped if each of its cases is: one that failed would be named last.
  set_tests_properties(${room}/${suite} PROPERTIES LABELS ${room} TIMEOUT 1800 COST ${cost} SKIP_REGULAR_EXPRESSION
    "\\[  PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [^\n]*\n(\\[  SKIPPED \\] [^\n]*\n)+$")
endforeach()
