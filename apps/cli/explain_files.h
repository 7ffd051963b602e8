// The files that `qkv explain` reads and writes.
#pragma once

#include <string>

#include "qkv/api/field.h"
#include "qkv/explain.h"

namespace qkv::cli {

/// Where the reader wants the page and the pictures; empty: not at all.
struct ExplainFiles {
  std::string html;  // "-": standard output
  std::string svg;
  std::string png;

  [[nodiscard]] bool wants_any() const { return !html.empty() || !svg.empty() || !png.empty(); }
  [[nodiscard]] bool prints_page() const { return html == "-"; }
  /// Throws Error before anything is computed if the page could not be written, or its directory is missing.
  void require_writable() const;
  /// The pictures, and the page that was made, if it is not printed: all files, or none. Directories of pictures are
  /// made.
  void write(const Explanation& explanation, const std::string& page) const;
  /// A line for each thing written.
  [[nodiscard]] std::string report() const;
};

/// --html, which says `page`, --svg and --png.
[[nodiscard]] Fields<ExplainFiles> explain_file_fields(const char* page);

}  // namespace qkv::cli
