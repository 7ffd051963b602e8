// NumPy's .npz: a zip archive of .npy members.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/files.h"

namespace qkv {

/// An archive that is open: its directory is read once, and each member when it is asked for. The constructor throws
/// Error naming the file for what is unreadable or no zip archive, holds two members of one name, or whose members are
/// said to take more bytes than the file has (they overlap).
class Npz {
 public:
  explicit Npz(const std::string& path);

  /// The members' names, without ".npy", in the archive's order.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// What all members declare to take, inflated.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// As read_npz().
  [[nodiscard]] Tensor load(std::string_view name) const;

 private:
  std::shared_ptr<void> archive_;  // libzip's
  std::string path_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint64_t, std::less<>> places_;
  std::uint64_t bytes_ = 0;
};

/// The members' names, without ".npy", in the archive's order. Throws as Npz does.
[[nodiscard]] std::vector<std::string> npz_names(const std::string& path);

/// One member, stored or deflated. Throws Error: as npz_names() and decode_npy(), and listing the members if `name` is
/// not among them. Reads the header first: a member whose declared size is not that of its shape and dtype, or more
/// than this machine's memory, is refused before the rest is inflated.
[[nodiscard]] Tensor read_npz(const std::string& path, const std::string& name);

/// The archive's bytes, members stored. The same tensors give the same bytes: the members' time is 1980-01-01. Throws
/// InvalidArgument for an empty name, one with a '/' or '\0', or the same name twice.
[[nodiscard]] std::vector<std::byte> encode_npz(std::span<const NamedView> members);

}  // namespace qkv
