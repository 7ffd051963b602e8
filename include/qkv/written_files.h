// What writing a file would replace, and what a signal leaves of it.
#pragma once

#include <string>

namespace qkv {

/// Whether write_file() to `a` would replace what `b` names, however the two are spelt: by another way to the
/// directory, a link (whose target need not be there), or other letters on a file system that does not tell A from a. A
/// device or a pipe is not replaced, and so is never the same place. Throws Error if one of them is a directory.
[[nodiscard]] bool is_same_place(const std::string& a, const std::string& b);

/// Removes the temporary files that write_file() and write_files() are writing at this moment, so that a process that a
/// signal ends leaves none. For a signal handler: it calls unlink() alone, and the writing fails afterwards.
void remove_unfinished_files() noexcept;

}  // namespace qkv
