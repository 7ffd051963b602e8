// Files read whole and written atomically, and tensors by path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/error.h"
#include "qkv/tensor.h"

namespace qkv {

/// Every byte of a file (or of a pipe, to its end). Throws Error naming the path and the system's reason.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

/// The text that these bytes are, without the mark of UTF-8 at its beginning. Throws Error naming `source` for bytes
/// that are not UTF-8: by their kind where it is known (a PNG picture, UTF-16), else by the first byte that is wrong,
/// its line, and the encoding that has it; and for bytes of which more than a quarter are zero.
[[nodiscard]] std::string_view require_utf8(std::string_view bytes, const std::string& source);

/// Writes beside `path` under a temporary name, then renames: a reader sees the old file or the new one, never a part.
/// A symbolic link stays and its target is replaced; an existing file's permissions are kept; a device or a pipe
/// (/dev/stdout) is written to as it is. Throws Error naming the path and the system's reason; nothing is left behind
/// then.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

struct FileContent {
  std::string path;
  std::vector<std::byte> bytes;
};

/// Several files at once: all are written under temporary names before the first appears, so that a full disk or a
/// missing directory leaves none of them. Throws InvalidArgument if two have the same path, otherwise as write_file().
void write_files(std::span<const FileContent> files);

/// With those above it; nothing where it is there already. Throws Error naming the path and the system's reason.
void make_directory(const std::string& path);

/// Throws Error if read_file() could not open the path.
void require_readable(const std::string& path);

/// Throws Error if write_file() could not write there: the directory is missing or not writable, or the path is a
/// directory. Call it before a long computation.
void require_writable(const std::string& path);

enum class TensorFormat : std::uint8_t { npy, npz, safetensors };

/// The path of a tensor: "q.npy", "all.npz:q" or "all.safetensors:q".
struct TensorPath {
  std::string file;
  TensorFormat format = TensorFormat::npy;
  std::string member;  // empty: none was named
};

/// Throws InvalidArgument for a name that ends in none of .npy, .npz and .safetensors.
[[nodiscard]] TensorPath parse_tensor_path(std::string_view path);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A tensor to be written under a name; the elements are borrowed.
struct NamedView {
  std::string name;
  TensorView view;
};

/// Whether a text is a tensor's numbers rather than its path: it begins with a bracket.
[[nodiscard]] bool is_tensor_text(std::string_view text) noexcept;

/// The f64 tensor of numbers in nested brackets, "[[1, 0], [0, 1]]": rank 1 to kMaxRank, no extent 0; blanks and new
/// lines may stand between numbers, and inf, -inf and nan are numbers. Throws InvalidArgument for any other text, and
/// for rows of different lengths.
[[nodiscard]] Tensor tensor_from_text(std::string_view text);

/// The tensor at a path, or of a text in brackets (tensor_from_text()). One of a safetensors file reads the mapped file
/// in place. An archive that holds only one needs no member's name. Throws Error naming the file if it is unreadable,
/// malformed, of an element type that qkv does not have, or (listing the members) not there.
[[nodiscard]] Tensor read_tensor(const std::string& path);

/// Every tensor of a file, in the file's order; a .npy has one, without a name.
[[nodiscard]] std::vector<NamedTensor> read_tensors(const std::string& path);

/// Writes the tensors at tensor paths (the names), all or none. Those of one archive go into it together; what was in
/// it before is replaced. An archive's only tensor may be left without a name: it becomes "tensor". Throws
/// InvalidArgument if two would lie in the same place, otherwise as write_file().
void write_tensors(std::span<const NamedView> tensors);
void write_tensor(const std::string& path, const TensorView& view);

}  // namespace qkv
