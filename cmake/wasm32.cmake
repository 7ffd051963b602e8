# Toolchain: Debian's Clang, lld, libc++ and wasi-libc, for WebAssembly with exceptions and 128-bit vectors. What they lack
# is in apps/studio/wasm/runtime.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_SYSROOT /usr)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -msimd128 -isystem ${CMAKE_CURRENT_LIST_DIR}/../apps/studio/wasm/runtime/include")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # before the runtime is compiled, nothing links
# What the rooms look for: headers alone where there are some, and nothing to link.
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/wasm32)
