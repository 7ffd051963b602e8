// The files that `qkv explain` reads and writes.
#pragma once

#include <string>

#include "qkv/explain.h"

namespace qkv::cli {

/// Each a tensor path, or numbers in brackets; empty: not given.
struct OwnPaths {
  std::string q;
  std::string k;
  std::string v;

  [[nodiscard]] bool any() const { return !q.empty() || !k.empty() || !v.empty(); }
};

/// Throws InvalidArgument naming the option that is missing, or is no tensor.
[[nodiscard]] OwnTensors read_own_tensors(const OwnPaths& paths);

/// Where the reader wants the page and the pictures; empty: not at all.
struct ExplainFiles {
  std::string html;  // "-": standard output
  std::string svg;
  std::string png;

  [[nodiscard]] bool wants_any() const { return !html.empty() || !svg.empty() || !png.empty(); }
  [[nodiscard]] bool prints_page() const { return html == "-"; }
  /// Throws Error before anything is computed if the page could not be written, or its directory is missing.
  void require_writable() const;
  /// All files, or none; not a page that is printed. The directories of pictures are made.
  void write(const Explanation& explanation) const;
  /// A line for each thing written.
  [[nodiscard]] std::string report() const;
};

}  // namespace qkv::cli
