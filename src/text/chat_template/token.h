// The text of a template as tokens: what stands between its tags, and the words within them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::text::jinja {

enum class TokenKind : std::uint8_t {
  text,          // between tags
  output_begin,  // {{
  output_end,
  block_begin,  // {%
  block_end,
  name,
  string,  // without quotes and escapes
  integer,
  real,
  mark,  // an operator, a bracket, a comma
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  std::uint32_t line = 1;
};

/// The tokens, the last one an end. White space is removed around tags as `transformers` has it: trim_blocks and
/// lstrip_blocks. Throws Fault, with its line in front.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view source);

[[nodiscard]] std::string at_line(std::uint32_t line, std::string_view what);

}  // namespace qkv::text::jinja
