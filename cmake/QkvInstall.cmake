# `cmake --install` and find_package(qkv [COMPONENTS files picture explain learn]).

include(CMakePackageConfigHelpers)

set(components qkv files picture explain learn)
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

set(left_out)
if(QKV_ENGINE_ONLY)
  foreach(header IN ITEMS autograd nn model train picture captions.h explain.h explain_reading.h files.h npy.h npz.h
                          png.h safetensors.h worked.h)
    list(APPEND left_out PATTERN ${header} EXCLUDE)
  endforeach()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${left_out})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/qkvConfig.cmake.in ${PROJECT_BINARY_DIR}/qkvConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/qkvConfig.cmake ${PROJECT_BINARY_DIR}/qkvConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
if(TARGET qkv_cli)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/qkv/models
          FILES_MATCHING PATTERN "*.safetensors" PATTERN "*.json")
  install(TARGETS qkv_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
