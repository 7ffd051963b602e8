# `cmake --install`, find_package(qkv [COMPONENTS cluster files hub picture explain learn api]) and pkg-config.

include(CMakePackageConfigHelpers)
include(QkvPkgConfig)

set(components qkv cluster files hub picture explain learn api)
if(QKV_ENGINE_ONLY)
  set(components qkv)
endif()
foreach(component IN LISTS components)
  set(target qkv_${component})
  if(component STREQUAL "qkv")
    set(target qkv)
  endif()
  install(TARGETS ${target} EXPORT qkv_${component}_targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT qkv_${component}_targets NAMESPACE qkv:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
endforeach()

qkv_pkg_config(qkv "${PROJECT_DESCRIPTION}" LIBRARIES -lstdc++ -lm -pthread)
if(NOT QKV_ENGINE_ONLY)
  get_property(mpi_packages GLOBAL PROPERTY qkv_mpi_packages)
  qkv_pkg_config(qkv-cluster "Attention over several machines for qkv" USES qkv PACKAGES ${mpi_packages})
  qkv_pkg_config(qkv-files "npy, npz, safetensors and PNG files for qkv" USES qkv PACKAGES libpng libzip zlib)
  qkv_pkg_config(qkv-hub "Models from a hub for qkv" USES qkv PACKAGES libcurl libcrypto)
  qkv_pkg_config(qkv-picture "Heatmaps and charts of qkv" USES qkv PACKAGES cairo libpng)
  get_property(onednn GLOBAL PROPERTY qkv_onednn_libraries)
  qkv_pkg_config(qkv-learn "Autograd, layers, models and training of qkv" USES qkv-files
                 PACKAGES libpcre2-8 libutf8proc LIBRARIES ${onednn})
  qkv_pkg_config(qkv-explain "Attention explained step by step by qkv" USES qkv-learn qkv-picture)
  qkv_pkg_config(qkv-api "Requests and replies of qkv as JSON" USES qkv-files qkv-hub qkv-explain)
endif()

# The engine's headers are those that qkv/qkv.h includes before its #if, and qkv.h itself.
set(umbrella ${PROJECT_SOURCE_DIR}/include/qkv/qkv.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${umbrella})
file(READ ${umbrella} text)
string(REGEX REPLACE "#if.*" "" text "${text}")
string(REGEX MATCHALL "qkv/[a-z_]+\\.h" engine_headers "${text}")
list(TRANSFORM engine_headers PREPEND ${PROJECT_SOURCE_DIR}/include/)
if(QKV_ENGINE_ONLY)
  install(FILES ${engine_headers} ${umbrella} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/qkv COMPONENT headers)
else()
  install(DIRECTORY include/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/qkvConfig.cmake.in ${PROJECT_BINARY_DIR}/qkvConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/qkvConfig.cmake ${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES models/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/models)
if(TARGET qkv_cli)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/qkv/models
          FILES_MATCHING PATTERN "*.safetensors" PATTERN "*.json")
  install(TARGETS qkv_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
