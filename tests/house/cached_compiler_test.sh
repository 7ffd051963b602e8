#!/bin/sh
# cached_compiler_test.sh SCRIPT: objects go through the cache, precompiled headers past it.
set -eu
object=$("$1" echo false -x c++ -c a.cc)
if [ "$object" != "false -x c++ -c a.cc" ]; then
  echo "expected the cache to get the compiler's words, got: $object"
  exit 1
fi
header=$("$1" false echo -x c++-header a.hxx)
if [ "$header" != "-x c++-header a.hxx" ]; then
  echo "expected the compiler alone to make a precompiled header, got: $header"
  exit 1
fi
