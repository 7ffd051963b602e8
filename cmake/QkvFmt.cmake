# fmt: its headers alone are parsed 2 s longer a file, and a shared libfmt would be one more library to bring. So it is
# compiled once (src/core/own_fmt.cc), inside each library of ours that formats, hidden and in a namespace of its own:
# it never meets the fmt of whoever links to us.
find_package(fmt REQUIRED)

add_library(qkv_fmt OBJECT ${PROJECT_SOURCE_DIR}/src/core/own_fmt.cc)
target_include_directories(qkv_fmt SYSTEM PUBLIC
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(qkv_fmt PUBLIC
  "FMT_BEGIN_NAMESPACE=namespace fmt __attribute__((visibility(\"hidden\"))) { inline namespace of_qkv {"
  "FMT_END_NAMESPACE=}}")
qkv_compile_options(qkv_fmt)

# qkv_use_fmt(<target>)
function(qkv_use_fmt target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:qkv_fmt>)
endfunction()
