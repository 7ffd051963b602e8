// Standard output and standard error: the one way in which commands speak.
#pragma once

#include <string_view>

namespace qkv::cli {

/// Writes to standard output. A reader that has gone away (`qkv … | head`) is no failure: the rest is dropped. Anything
/// else, such as a full disk, throws Error. On a terminal, control characters but those of colours are shown as \x1b.
void print(std::string_view text);

/// Hands on what print() has buffered. Throws as print() does.
void flush_output();

/// Writes "<command>: <message>" to standard error, control characters but the ends of lines as \x1b.
void complain(std::string_view command, std::string_view message);

}  // namespace qkv::cli
