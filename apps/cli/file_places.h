// The files that a command reads and writes.
#pragma once

#include "command.h"

namespace qkv::cli {

/// To be called before anything is computed. Throws InvalidArgument naming the option if two files that are written
/// would be one, however they are spelt, or one that is read, or if a name is none of a tensor; Error if one cannot be
/// written. Results that go into one archive under different names share it.
void check_files(const Command& command, const FieldValues& values);

}  // namespace qkv::cli
