# No package of the machine can be linked: apps/studio/wasm/stand_ins.cmake leaves out what would use them.
macro(pkg_check_modules package)
  if(NOT TARGET PkgConfig::${package})
    add_library(PkgConfig::${package} INTERFACE IMPORTED)
  endif()
  set(${package}_FOUND TRUE)
endmacro()
set(PkgConfig_FOUND TRUE)
