# qkv_studio_pages: the pages, made by node and npm, compressed and put into the program; or why they are not there.
set(web ${CMAKE_CURRENT_SOURCE_DIR}/web)
set(build ${CMAKE_CURRENT_BINARY_DIR})
set(pages ${build}/pages/index.html.gz ${build}/pages/studio.js.gz ${build}/pages/studio.css.gz
          ${build}/pages/worker.js.gz ${build}/pages/why)

# Why there can be no pages; empty if there can.
function(qkv_why_without_studio result)
  set(${result} "" PARENT_SCOPE)
  if(QKV_STUDIO STREQUAL "OFF")
    set(${result} "it was built with QKV_STUDIO=OFF" PARENT_SCOPE)
    return()
  elseif(CMAKE_CROSSCOMPILING)
    set(${result} "it was built for another machine" PARENT_SCOPE)
    return()
  elseif(NOT EXISTS ${web}/package.json)
    set(${result} "it was built from a source without apps/studio/web" PARENT_SCOPE)
    return()
  endif()
  find_program(QKV_NODE node)
  find_program(QKV_NPM npm)
  mark_as_advanced(QKV_NODE QKV_NPM)
  if(NOT QKV_NODE OR NOT QKV_NPM)
    set(${result} "it was built without node and npm" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${QKV_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    set(${result} "it was built where node is ${version}; the pages need 18 or newer" PARENT_SCOPE)
  endif()
endfunction()

qkv_why_without_studio(why)
if(why AND QKV_STUDIO STREQUAL "ON")
  message(FATAL_ERROR "QKV_STUDIO=ON: there can be no pages in this qkv: ${why}")
endif()

if(why)
  message(STATUS "The studio's pages are left out: ${why}")
  foreach(page IN LISTS pages)
    file(CONFIGURE OUTPUT ${page} CONTENT "")
  endforeach()
  file(CONFIGURE OUTPUT ${build}/pages/why CONTENT "${why}" @ONLY)
else()
  set(messages ${web}/src/engine/messages.ts)
  add_custom_command(OUTPUT ${messages}
    COMMAND studio_messages ${messages}
    DEPENDS studio_messages
    COMMENT "Writing the types of the studio's questions")
  if(NOT EXISTS ${messages})
    file(TOUCH ${messages})  # so that the list of sources stays the same
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/tests/* ${web}/stories/*)
  file(GLOB around CONFIGURE_DEPENDS ${web}/*.json ${web}/*.ts ${web}/*.html ${web}/.npmrc)
  list(REMOVE_ITEM sources ${messages})
  # Without its stamp, as after a failed download, it is tried again by the next build.
  add_custom_command(OUTPUT ${build}/pages/stamp
    BYPRODUCTS ${pages}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/build-pages ${web} ${build} ${QKV_STUDIO} ${QKV_NPM}
    DEPENDS ${messages} ${sources} ${around} build-pages
    COMMENT "Building the studio's pages")
  add_custom_target(studio_messages_ts DEPENDS ${messages})
endif()
add_custom_target(studio_web DEPENDS $<$<NOT:$<BOOL:${why}>>:${build}/pages/stamp>)

if(NOT why)
  set_property(TARGET studio_web PROPERTY QKV_WEB ${build}/web)
endif()

# The engine that a page can take along, where `make web` has built it.
set(QKV_WEB_ENGINE ${PROJECT_SOURCE_DIR}/build/web/apps/studio/wasm/qkv.wasm CACHE FILEPATH
    "The engine as WebAssembly, put into the program where the file is there")
mark_as_advanced(QKV_WEB_ENGINE)
set(engine ${build}/pages/engine.gz)
add_custom_target(studio_engine COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/pack-engine ${QKV_WEB_ENGINE} ${engine}
                  BYPRODUCTS ${engine})

add_library(qkv_studio_pages STATIC pages.cc)
add_dependencies(qkv_studio_pages studio_web studio_engine)
set_property(SOURCE pages.cc PROPERTY OBJECT_DEPENDS "${pages};${engine}")
target_compile_definitions(qkv_studio_pages PRIVATE QKV_STUDIO_PAGES="${build}/pages")
target_link_libraries(qkv_studio_pages PUBLIC qkv_studio_server)
qkv_compile_options(qkv_studio_pages)
qkv_quick_to_compile(qkv_studio_pages)
