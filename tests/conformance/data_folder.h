// Where the conformance data lies: QKV_CONFORMANCE_DIR, else ../shared/conformance from the source folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace qkv::conformance {

/// A folder of the conformance data, e.g. "onnx"; nothing where the data is not there.
inline std::optional<std::filesystem::path> data_folder(std::string_view name) {
  const char* chosen = std::getenv("QKV_CONFORMANCE_DIR");  // NOLINT(concurrency-mt-unsafe): tests set no environment
  const std::filesystem::path root = chosen != nullptr
                                         ? std::filesystem::path(chosen)
                                         : std::filesystem::path(QKV_SOURCE_DIR) / ".." / "shared" / "conformance";
  std::error_code ignored;
  if (!std::filesystem::is_directory(root / name, ignored)) return std::nullopt;
  return root / name;
}

/// What a skipped test prints.
inline std::string missing_data(std::string_view name) {
  return "no conformance data: neither QKV_CONFORMANCE_DIR nor ../shared/conformance has a folder " + std::string(name);
}

}  // namespace qkv::conformance
