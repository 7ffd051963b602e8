if(NOT TARGET utf8cpp)
  add_library(utf8cpp INTERFACE IMPORTED GLOBAL)
endif()
set(utf8cpp_FOUND TRUE)
