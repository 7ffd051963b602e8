// The files that explanations are read from and written to.
#pragma once

#include <string>

#include "qkv/explain.h"

namespace qkv {

/// Members Q, K and V, or q, k and v, of an .npz file. Throws Error naming the file and what it holds.
[[nodiscard]] OwnTensors read_own_tensors(const std::string& path);

/// Where a page and pictures go; empty: nowhere.
struct ExplanationFiles {
  std::string page_path;  // a file
  std::string page = {};  // what is written there
  std::string svg;        // a directory, as are those of PNGs; it is made
  std::string png;
};

/// All of them, or none. Pictures are drawn on qkv::threads() threads. Throws Error naming what cannot be written.
void write_explanation(const Explanation& explanation, const ExplanationFiles& files);

}  // namespace qkv
