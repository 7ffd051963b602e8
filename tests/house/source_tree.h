// The repository's own files, read as text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::house {

struct SourceFile {
  std::filesystem::path path;  // relative to the root, e.g. "src/mask/node.h"
  std::string text;
};

/// `path` is relative to the root.
[[nodiscard]] SourceFile read_file(const std::filesystem::path& path);

/// All regular files below `folder` (relative to the root) whose extension is one of `extensions`, in order of path.
[[nodiscard]] std::vector<SourceFile> files_below(const std::filesystem::path& folder,
                                                  const std::vector<std::string_view>& extensions);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

/// The repository that this test was built from.
[[nodiscard]] std::filesystem::path root();

}  // namespace qkv::house
