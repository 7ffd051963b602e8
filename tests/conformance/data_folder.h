// Where the conformance data lies.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace qkv::conformance {

/// A folder of the conformance data, e.g. "safetensors", in QKV_CONFORMANCE_DIR, else in build/conformance (which
/// `make test` makes) or ../shared/conformance of the source folder; nothing where the data is not there.
inline std::optional<std::filesystem::path> data_folder(std::string_view name) {
  const std::filesystem::path source = QKV_SOURCE_DIR;
  std::array roots = {source / "build" / "conformance", source / ".." / "shared" / "conformance"};
  const char* chosen = std::getenv("QKV_CONFORMANCE_DIR");  // NOLINT(concurrency-mt-unsafe): tests set no environment
  if (chosen != nullptr) roots.fill(chosen);
  std::error_code ignored;
  for (const std::filesystem::path& root : roots) {
    if (std::filesystem::is_directory(root / name, ignored)) return root / name;
  }
  return std::nullopt;
}

/// What a skipped test prints.
inline std::string missing_data(std::string_view name) {
  return "no conformance data: neither QKV_CONFORMANCE_DIR, build/conformance nor ../shared/conformance has a folder " +
         std::string(name);
}

}  // namespace qkv::conformance
