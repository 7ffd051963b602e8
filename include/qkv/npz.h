// NumPy's .npz: a zip archive of .npy members.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "qkv/files.h"

namespace qkv {

/// The members' names, without ".npy", in the archive's order. Throws Error naming the file for what is unreadable, no
/// zip archive, or holds two members of one name.
[[nodiscard]] std::vector<std::string> npz_names(const std::string& path);

/// One member, stored or deflated. Throws Error: as npz_names() and decode_npy(), and listing the members if `name` is
/// not among them. Reads no more than the member's declared size, which deflate's best ratio bounds.
[[nodiscard]] Tensor read_npz(const std::string& path, const std::string& name);

/// The archive's bytes, members stored. The same tensors give the same bytes: the members' time is 1980-01-01. Throws
/// InvalidArgument for an empty name, one with a '/' or '\0', or the same name twice.
[[nodiscard]] std::vector<std::byte> encode_npz(std::span<const NamedView> members);

}  // namespace qkv
