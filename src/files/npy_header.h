// The header of a .npy file: a Python dict, read strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// The longest header that is read; NumPy's own are shorter than 10,000 bytes.
inline constexpr std::size_t kLongestNpyHeader = std::size_t{1} << 19U;

/// Throws what decode_npy() would throw of a whole file that is `size` bytes and begins with these, of which there are
/// all or those up to the end of the header.
void require_npy_size(std::span<const std::byte> begin, std::uint64_t size, std::string_view source);

/// The same text, as NumPy writes it.
[[nodiscard]] std::string to_string(const NpyHeader& header);

}  // namespace qkv::files
