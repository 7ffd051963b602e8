// Random questions for the studio, from the descriptions that docs/api.md is made of.
#pragma once

#include <cstdint>
#include <string>

namespace qkv::fuzz {

struct StudioQuestion {
  std::string name;
  std::string request;  // JSON
};

/// The n-th of them, the same on every machine.
[[nodiscard]] StudioQuestion studio_question(std::uint64_t n);

}  // namespace qkv::fuzz
