// The files that `qkv explain` reads and writes.
#pragma once

#include <string>

#include "qkv/explain.h"

namespace qkv::cli {

/// Members Q, K and V, or q, k and v. Throws Error naming the file and what it holds.
[[nodiscard]] OwnTensors read_own_tensors(const std::string& path);

/// Where the reader wants the page and the pictures; empty: not at all.
struct ExplainFiles {
  std::string html;
  std::string svg;
  std::string png;

  [[nodiscard]] bool wants_any() const { return !html.empty() || !svg.empty() || !png.empty(); }
  /// Throws Error before anything is computed where nothing could be written.
  void require_writable() const;
  /// All files, or none. Directories are made.
  void write(const Explanation& explanation) const;
  /// A line for each thing written, or nothing.
  [[nodiscard]] std::string report() const;
};

}  // namespace qkv::cli
