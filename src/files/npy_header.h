// The header of a .npy file: a Python dict, read strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::files {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`: the three keys once each in any order, then
/// blanks only. Throws Error "<source>: …" with the place where the text is not that.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, std::string_view source);

/// The same text, as NumPy writes it.
[[nodiscard]] std::string to_string(const NpyHeader& header);

}  // namespace qkv::files
