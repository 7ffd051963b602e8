// Options whose value may be an empty text.
#pragma once

namespace qkv::cli {

/// The type of an option whose value may be "", which is otherwise taken for a slip of the shell.
inline constexpr const char* kTextOrNone = "[TEXT]";

}  // namespace qkv::cli
