// Standard output and standard error: the one way in which commands speak.
#pragma once

#include <string_view>

namespace qkv::cli {

/// Writes to standard output. A reader that has gone away (`qkv … | head`) is no failure: the rest is dropped. Anything
/// else, such as a full disk, throws Error. On a terminal, control characters but those of colours are shown as \x1b.
void print(std::string_view text);

/// Hands on what print() has buffered. Throws as print() does.
void flush_output();

/// Whether the reader of standard output has gone away, so that what print() writes is dropped.
[[nodiscard]] bool reader_is_gone() noexcept;

/// Gives each of the three standard streams that is closed a descriptor of its own, which neither reads nor writes:
/// else a file or a socket that is opened later would take its number.
void hold_standard_streams() noexcept;

/// Writes "<command>: <message>" to standard error, control characters but the ends of lines as \x1b.
void complain(std::string_view command, std::string_view message);

}  // namespace qkv::cli
