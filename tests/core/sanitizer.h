// Whether the tests run under AddressSanitizer, which needs more address space and keeps what is freed.
#pragma once

namespace qkv::tests {

#if defined(__has_feature)
inline constexpr bool kHasShadowMemory = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasShadowMemory = true;
#else
inline constexpr bool kHasShadowMemory = false;
#endif

}  // namespace qkv::tests
