// Where the models lie that make_models.py has made.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace qkv::tests {

/// QKV_MODELS_DIR, else build/models beside the sources.
inline std::filesystem::path models_folder() {
  const char* chosen = std::getenv("QKV_MODELS_DIR");  // NOLINT(concurrency-mt-unsafe): tests set no environment
  return chosen != nullptr ? chosen : std::filesystem::path(QKV_SOURCE_DIR) / "build" / "models";
}

/// The names of those with results to compare with, in order.
inline std::vector<std::string> made_models() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder(), none)) {
    if (std::filesystem::exists(entry.path() / "expected.safetensors")) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace qkv::tests
